// The page: logs in, hears what changes, and shows the view that the address names.

import { learnNames, makeFilter, showAudit } from './audit.mjs';
import { offerNotifications, showDecisions } from './decisions.mjs';
import { showLearn } from './learn.mjs';
import { byId, fill, visible } from './parts.mjs';
import { follow, logIn } from './server.mjs';
import { showServices } from './services.mjs';

const views = ['services', 'decisions', 'audit', 'learn'];
let last; // what was heard last
let isIn = false;

const view = () => (views.includes(location.hash.slice(1)) ? location.hash.slice(1) : 'services');

function showView() {
  const now = isIn ? view() : 'login';
  for (const name of ['login', ...views]) byId(`view-${name}`).hidden = name !== now;
  for (const link of document.querySelectorAll('nav a')) {
    if (link.hash === `#${now}`) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  document.querySelector('nav').hidden = !isIn;
  showAudit(now === 'audit');
  if (now === 'learn') showLearn(last);
}

function showTrouble(text) {
  const trouble = byId('trouble');
  if (trouble.textContent === text) return;
  trouble.hidden = text === '';
  fill(trouble, text && visible(text));
}

function hear(news) {
  if (news.at_ms === undefined) return;
  const wasUnknown = last?.status === undefined;
  last = news;
  learnNames(news);
  showTrouble(news.error ? [news.error.message, news.error.advice].filter(Boolean).join('. ') : '');
  byId('whose').textContent = `${news.user}${news.status?.version ? `, cellblock ${news.status.version}` : ''}${news.status?.mode ? `, ${news.status.mode} mode` : ''}; times are UTC`;
  showServices(news);
  showDecisions(news);
  if (wasUnknown && view() === 'learn') showLearn(news);
}

function leave(why) {
  isIn = false;
  byId('login-why').textContent = why;
  showTrouble('');
  showView();
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// Goes on when `cellblock ui` was away for a moment; a session that is over is over.
async function listen() {
  while (isIn) {
    try {
      await follow('/api/events', {}, hear);
    } catch (failure) {
      if (failure.status === 401) return leave(failure.message);
    }
    showTrouble('cellblock ui does not answer: it has ended, or is busy. This page tries again.');
    await pause(2000);
  }
}

addEventListener('hashchange', () => {
  if (!isIn) return;
  showView();
  byId('main').focus({ preventScroll: true });
  scrollTo(0, 0);
});

makeFilter();
offerNotifications();
try {
  isIn = await logIn();
} catch (failure) {
  byId('login-why').textContent = failure.message;
}
showView();
if (isIn) listen();
