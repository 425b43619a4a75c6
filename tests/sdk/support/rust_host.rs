//! A host in Rust against a real server: says on stdout what it has seen, a name and a text a line, and waits for a
//! line on stdin where the test does something meanwhile.
//!
//!     rust_host SERVER

use std::io::Write;
use std::time::Duration;

use rust_host::client::{Client, Config, Error, Rule, Verdict};
use rust_host::question::Event;
use tokio::sync::mpsc::{unbounded_channel, UnboundedReceiver};
use tokio::task::{spawn_blocking, spawn_local, LocalSet};

const PATIENCE: Duration = Duration::from_secs(60);

fn tell(name: &str, value: &str) {
    println!("{name} {}", value.replace('\n', " "));
    std::io::stdout().flush().expect("stdout");
}

fn config<'a>(server: &'a str, rules: &'a [Rule<'a>]) -> Config<'a> {
    Config { server, rules, otherwise: Verdict::Allow, capabilities: r#"{"elicitation":{}}"# }
}

async fn connected(server: &str, rules: &[Rule<'_>]) -> Result<(Client, UnboundedReceiver<Event>), Error> {
    let (events, taken) = unbounded_channel();
    Ok((Client::connect(&config(server, rules), events).await?, taken))
}

fn named(tools: &[String], part: &str) -> String {
    tools.iter().find(|name| name.contains(part)).cloned().unwrap_or_default()
}

async fn calls(server: &str) -> Result<(), Error> {
    let (client, _events) = connected(server, &[]).await?;
    let client = std::rc::Rc::new(client);
    tell("tools", &client.list_tools().await?.join(","));
    let tasks: Vec<_> = (0..20)
        .map(|number| {
            let client = client.clone();
            spawn_local(async move {
                client.call_tool("echo", &format!(r#"{{"message":"m{number}"}}"#), PATIENCE).await
            })
        })
        .collect();
    let mut texts = Vec::new();
    for task in tasks {
        texts.push(task.await.expect("a task")?.text);
    }
    tell("texts", &texts.join(","));
    Ok(())
}

async fn questions(server: &str) -> Result<(), Error> {
    let (client, mut events) = connected(server, &[]).await?;
    spawn_local(async move {
        while let Some(event) = events.recv().await {
            // From another thread, as a person's answer would come.
            if let Event::Request(request) = event {
                spawn_blocking(move || request.answer(r#"{"action":"accept","content":{"name":"Ada"}}"#));
            }
        }
    });
    let tool = named(&client.list_tools().await?, "elicitation");
    tell("elicited", &client.call_tool(&tool, "{}", PATIENCE).await?.json);
    Ok(())
}

async fn cancelling(server: &str) -> Result<(), Error> {
    let (client, _events) = connected(server, &[]).await?;
    let tool = named(&client.list_tools().await?, "long-running");
    let call = client.call_tool(&tool, r#"{"duration":600,"steps":6000}"#, Duration::from_secs(900));
    // Nothing tells that it has begun: an answer to a later request does that the server reads on.
    tokio::select! {
        _ = call => tell("cancelled", "no"),
        _ = client.call_tool("echo", r#"{"message":"meanwhile"}"#, PATIENCE) => tell("cancelled", "yes"),
    }
    tell("after", &client.call_tool("echo", r#"{"message":"after"}"#, PATIENCE).await?.text);
    Ok(())
}

async fn permission(server: &str) -> Result<(), Error> {
    let rules = [Rule { tool: "echo", verdict: Verdict::Deny, reason: "not today" }];
    let (client, mut events) = connected(server, &rules).await?;
    spawn_local(async move {
        let mut is_first = true;
        while let Some(event) = events.recv().await {
            if let Event::Approval(call) = event {
                if is_first {
                    tell("approval", &format!("{} {} {}", call.server, call.tool, call.arguments));
                    call.allow();
                }
                // The second one is dropped: not decided is denied.
                is_first = false;
            }
        }
    });
    if let Err(error) = client.call_tool("echo", r#"{"message":"x"}"#, PATIENCE).await {
        tell("denied", &error.to_string());
    }
    tell("allowed", &client.call_tool("get-sum", r#"{"a":2,"b":3}"#, PATIENCE).await?.text);
    if let Err(error) = client.call_tool("get-sum", r#"{"a":2,"b":3}"#, PATIENCE).await {
        tell("dropped", &error.code);
    }
    if let Err(error) = connected("nothing", &[]).await {
        tell("refused", &format!("{} {} {}", error.code, error.failure, !error.advice.is_empty()));
    }
    if let Err(error) = connected(server, &[Rule { tool: "*crash", verdict: Verdict::Deny, reason: "" }]).await {
        tell("bad_rule", &error.code);
    }
    Ok(())
}

async fn reconnecting(server: &str) -> Result<(), Error> {
    let (client, mut events) = connected(server, &[]).await?;
    tell("crash", &client.call_tool("echo", r#"{"message":"one"}"#, PATIENCE).await?.text);
    spawn_blocking(|| std::io::stdin().read_line(&mut String::new())).await.expect("a thread").expect("stdin");
    while !matches!(events.recv().await, Some(Event::Ended(_)) | None) {}
    client.reconnect(100).await?;
    tell("again", &client.call_tool("echo", r#"{"message":"two"}"#, PATIENCE).await?.text);
    Ok(())
}

async fn all(server: &str) -> Result<(), Error> {
    calls(server).await?;
    questions(server).await?;
    cancelling(server).await?;
    permission(server).await?;
    reconnecting(server).await
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let server = std::env::args().nth(1).expect("SERVER");
    if let Err(error) = LocalSet::new().run_until(all(&server)).await {
        eprintln!("{error}");
        std::process::exit(1);
    }
}
