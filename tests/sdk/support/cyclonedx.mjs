// The published JSON schema of CycloneDX 1.5, from the package of its own library.

import * as fs from 'node:fs';
import { createRequire } from 'node:module';
import * as path from 'node:path';

import { fixtures } from './daemon.mjs';

const require = createRequire(path.join(fixtures, 'package.json'));
const library = path.join(fixtures, 'node_modules/@cyclonedx/cyclonedx-library');
const { default: Ajv } = require('ajv');
const { default: addFormats } = require('ajv-formats');

const schema = (name) => JSON.parse(fs.readFileSync(path.join(library, 'res/schema', `${name}.SNAPSHOT.schema.json`), 'utf8'));

function validator() {
  // Formats of draft 2019 that ajv-formats lacks; their values are checked where they are made.
  const ajv = new Ajv({ strict: false, allErrors: true, formats: { 'idn-email': true, 'iri-reference': true } });
  addFormats(ajv);
  for (const name of ['spdx', 'jsf-0.82']) ajv.addSchema(schema(name), `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`);
  return ajv.compile(schema('bom-1.5'));
}

const validate = validator();

// What the schema says against a document: nothing if it is valid.
export function complaintsAbout(document) {
  return validate(document) ? [] : validate.errors.map(({ instancePath, message }) => `${instancePath} ${message}`);
}
