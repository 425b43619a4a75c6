//! Calls one tool of a server in a cell. Before the call leaves, the user is asked in the terminal, while the
//! connection goes on; Ctrl-C is no trouble: a host that ends closes its connection.
//!
//!     rust_host SERVER [TOOL [ARGUMENTS]]

use std::io::BufRead;
use std::time::Duration;

use rust_host::client::{Client, Config, Error, Verdict};
use rust_host::question::Event;
use tokio::sync::mpsc::{unbounded_channel, UnboundedReceiver};
use tokio::task::LocalSet;

const PATIENCE: Duration = Duration::from_secs(60);

/// What others wrote, with controls and what is not ASCII as escapes.
fn shown(text: &str) -> String {
    text.escape_default().to_string()
}

fn user_agrees() -> bool {
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    read.is_ok() && line.trim() == "y"
}

/// On a thread of its own: a person may take their time.
fn ask_user(mut events: UnboundedReceiver<Event>) {
    while let Some(event) = events.blocking_recv() {
        match event {
            Event::Approval(call) => {
                eprintln!("{} of {} with {}? [y/n]", shown(&call.tool), shown(&call.server), shown(&call.arguments));
                if user_agrees() { call.allow() } else { call.deny("the user said no") }
            }
            Event::Request(request) if request.method == "elicitation/create" => {
                request.answer(r#"{"action":"decline"}"#); // this host has no forms
            }
            Event::Request(request) => request.refuse(-32601, "this host does not have that"),
            Event::Ended(why) => eprintln!("rust_host: the connection has ended: {}", shown(&why)),
        }
    }
}

async fn run(server: &str, tool: Option<&str>, arguments: &str) -> Result<(), Error> {
    let (events, taken) = unbounded_channel();
    std::thread::spawn(move || ask_user(taken));
    let config = Config {
        server,
        rules: &[],
        otherwise: Verdict::Ask,
        capabilities: r#"{"elicitation":{}}"#,
    };
    let client = Client::connect(&config, events).await?;
    let tool = match tool {
        Some(tool) => tool,
        None => {
            for name in client.list_tools().await? {
                println!("{}", shown(&name));
            }
            return Ok(());
        }
    };
    match client.call_tool(tool, arguments, PATIENCE).await {
        Ok(answer) => println!("{}{}", if answer.is_error { "it failed: " } else { "" }, shown(&answer.text)),
        // Whether it was carried out is not known: it is not made again without its user.
        Err(error) if error.code == "disconnected" => {
            client.reconnect(0).await?;
            eprintln!("rust_host: connected again; the call may have been carried out, look before you repeat it");
            return Err(error);
        }
        Err(error) => return Err(error),
    }
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let server = words.first().unwrap_or_else(|| {
        eprintln!("usage: rust_host SERVER [TOOL [ARGUMENTS]]");
        std::process::exit(2);
    });
    let tool = words.get(1).map(String::as_str);
    let arguments = words.get(2).map_or("{}", String::as_str);
    if let Err(error) = LocalSet::new().run_until(run(server, tool, arguments)).await {
        for line in error.to_string().lines() {
            eprintln!("rust_host: {}", shown(line));
        }
        std::process::exit(1);
    }
}
