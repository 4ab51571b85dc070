//! A content and a proposal as people read them. Every field of a content is shown: it is what they sign.

use serde_json::Value;

use crate::funds_call::text;

/// What it does, in one line.
pub fn content(content: &Value) -> String {
    let field = |name: &str| text(&content[name]);
    let deposit = |verb: &str| format!("{verb} deposit {} (inclusion {})", field("deposit"), field("inclusion"));
    let roles = || content["roles"].as_array().into_iter().flatten().map(text).collect::<Vec<_>>().join(", ");
    match content["kind"].as_str().unwrap_or_default() {
        "add_person" => format!("add {} as {} with the key {}", field("person"), roles(), field("address")),
        "set_roles" => format!("{} has these roles and no others: {}", field("person"), roles()),
        "add_key" => format!("{} may also sign with the key {}", field("person"), field("address")),
        "reinstate" => format!("lift the suspension of {}", field("person")),
        "set_quorum" => match field("quorum").as_str() {
            "1" => "one signature is enough for every proposal".to_owned(),
            people => format!("{people} people must sign every proposal"),
        },
        "set_audience" => format!("people sign for {} on chain {}", field("audience"), field("chain_id")),
        "unfreeze_player" => format!("player {} may spawn and be paid again", field("player")),
        "resume_server" => format!("{} keeps these pauses: {}", field("server"), pauses(content)),
        "transfer" => format!(
            "move {} base units from {} to {}; reason: {}",
            field("amount"),
            field("from"),
            field("to"),
            field("reason")
        ),
        "reverse" => format!("reverse what {} moved; reason: {}", field("record"), field("reason")),
        "release_deposit" => {
            format!("{} through, to be credited by the rules; reason: {}", deposit("let"), field("reason"))
        }
        "refuse_deposit" => format!("{}: no player gets it; reason: {}", deposit("refuse"), field("reason")),
        "assign_deposit" => format!(
            "{}, {} base units in suspense, to player {} of {}; reason: {}",
            deposit("give"),
            field("amount"),
            field("player"),
            field("server"),
            field("reason")
        ),
        // Of a newer service: what is signed is shown as it is.
        _ => content.to_string(),
    }
}

fn pauses(content: &Value) -> String {
    let kinds = ["deposits", "spawns", "withdrawals", "disabled"];
    let kept: Vec<&str> = kinds.into_iter().filter(|kind| content[kind] == true).collect();
    if kept.is_empty() { "none".to_owned() } else { kept.join(", ") }
}

/// `open`, `rejected`, `executed`, `failed: insufficient_funds`, ...
pub fn status(proposal: &Value) -> String {
    match (proposal["outcome"]["state"].as_str(), proposal["outcome"]["reason"].as_str()) {
        (Some(state), Some(reason)) => format!("{state}: {reason}"),
        (Some("pending"), None) => "confirmed, not carried out yet".to_owned(),
        (Some(state), None) => state.to_owned(),
        (None, _) => text(&proposal["status"]),
    }
}

pub fn sheet(proposal: &Value) -> String {
    let signed = proposal["signed_by"].as_array().into_iter().flatten();
    let signed: Vec<String> = signed.map(|signed| text(&signed["person"])).collect();
    let mut lines = format!(
        "what    {}\nby      {} at {}\nsigned  {} ({} needed)\nstatus  {}\n",
        content(&proposal["content"]),
        text(&proposal["author"]),
        text(&proposal["proposed_at"]),
        signed.join(", "),
        text(&proposal["needed"]),
        status(proposal),
    );
    if proposal["status"] == "open" {
        lines += &format!("until   {}\n", text(&proposal["expires_at"]));
    }
    if let Some(record) = proposal["outcome"]["record"].as_str() {
        lines += &format!("record  {record}\n");
    }
    lines
}
