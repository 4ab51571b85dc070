//! The layout of what follows the options in every `--help`: at most [`WIDTH`] columns, broken where a reader would
//! break it, so that no terminal of 80 columns or more has to.
//!
//! | lines | if one is too long |
//! | --- | --- |
//! | a paragraph | its words flow anew |
//! | an example and what it shows | in the whole list, what it shows goes to a line of its own |
//! | an example alone | it continues on the next line, as a shell reads it |
//! | another list | its words flow under the first one |

use clap::Command;

/// Fits 80 columns with a margin.
const WIDTH: usize = 78;
const EXAMPLES: &str = "Examples:";
/// Under an example: what it shows, and how it continues.
const UNDER: &str = "      ";
/// A key of a list is at most this long; a longer one is a text in a first column.
const KEY_MAX: usize = 10;

/// The command with the help of all its subcommands laid out.
pub fn laid_out(command: Command) -> Command {
    let after = command.get_after_help().map(|text| lay_out(&text.to_string()));
    let command = match after {
        Some(text) => command.after_help(text),
        None => command,
    };
    command.mut_subcommands(laid_out)
}

fn lay_out(text: &str) -> String {
    let blocks = text.split("\n\n").map(|block| {
        let lines: Vec<&str> = block.lines().collect();
        let is_item = |line: &str| line.starts_with(' ');
        // A title or a paragraph, then its list, and so on.
        let parts = lines.chunk_by(|one, next| is_item(one) == is_item(next));
        let mut is_examples = false;
        let parts = parts.map(|part| match part {
            [title] if *title == EXAMPLES => {
                is_examples = true;
                (*title).to_owned()
            }
            list if is_item(list[0]) && is_examples => lay_out_examples(list),
            list if is_item(list[0]) => items(list),
            paragraph => flow(&paragraph.join(" "), ""),
        });
        parts.collect::<Vec<_>>().join("\n")
    });
    blocks.collect::<Vec<_>>().join("\n\n")
}

/// An example, and what it shows.
struct ExampleLine {
    command: String,
    shows: String,
    /// Whether there is a line that continues it as it stands.
    is_open: bool,
}

fn lay_out_examples(lines: &[&str]) -> String {
    let mut examples: Vec<ExampleLine> = Vec::new();
    for line in lines {
        let (command, shows) = columns(line);
        match examples.last_mut() {
            // The column of what is shown continues.
            Some(last) if line.starts_with("          ") => last.shows = format!("{} {}", last.shows, line.trim()),
            last => {
                let continues = last.is_some_and(|last| last.is_open);
                let command = if continues { (*line).to_owned() } else { command.to_owned() };
                let shows = if continues { "" } else { shows };
                examples.push(ExampleLine { is_open: line.ends_with('\\'), command, shows: shows.to_owned() });
            }
        }
    }
    if lines.iter().all(|line| line.chars().count() <= WIDTH) {
        return lines.join("\n");
    }
    let in_two = examples.iter().map(|example| {
        let command = continued(&example.command);
        if example.shows.is_empty() {
            command
        } else {
            format!("{command}\n{}", flow(&format!("{UNDER}{}", example.shows), ""))
        }
    });
    in_two.collect::<Vec<_>>().join("\n")
}

/// The two columns of a line: what is before the first wide gap, and what is after it.
fn columns(line: &str) -> (&str, &str) {
    let start = line.len() - line.trim_start().len();
    line[start..].find("  ").map_or((line, ""), |gap| (line[..start + gap].trim_end(), line[start + gap..].trim()))
}

/// A command that may go on in the next line, as a shell reads it.
fn continued(command: &str) -> String {
    if command.chars().count() <= WIDTH {
        return command.to_owned();
    }
    if command.contains(['\'', '"']) {
        // Quoted text must stay as it is.
        return format!("  {}", command.trim_start());
    }
    // Before a flag, so that it stays with its value; else between any two words.
    let head = command.get(..WIDTH - 2).unwrap_or_default();
    let place = [" --", " "].into_iter().filter_map(|gap| head.rfind(gap)).find(|place| *place > UNDER.len());
    match place {
        Some(place) => {
            format!("{} \\\n{}", &command[..place], continued(&format!("{UNDER}{}", &command[place + 1..])))
        }
        None => command.to_owned(),
    }
}

/// The items of a list: texts flow under their keys, and two columns become one if they do not fit.
fn items(lines: &[&str]) -> String {
    let margin = |line: &str| line.len() - line.trim_start().len();
    let is_wide = |line: &str| line.chars().count() > WIDTH;
    let has_key = |line: &str| columns(line).0.trim_start().chars().count() <= KEY_MAX;
    let in_one = lines.iter().any(|line| is_wide(line) && !columns(line).1.is_empty() && !has_key(line));
    let items = lines.iter().map(|line| {
        let (first, second) = columns(line);
        if in_one && !second.is_empty() && !has_key(line) {
            return format!("{first}\n{}{second}", &line[..margin(line)]);
        }
        if !is_wide(line) {
            return (*line).to_owned();
        }
        let under = if second.is_empty() { 2 } else { line.len() - second.len() - margin(line) };
        flow(line, &" ".repeat(under))
    });
    items.collect::<Vec<_>>().join("\n")
}

/// The text in lines of at most [`WIDTH`] columns. All have the margin of the first; the others are indented more.
fn flow(text: &str, indent: &str) -> String {
    let (margin, words) = text.split_at(text.len() - text.trim_start().len());
    let (mut lines, mut line) = (Vec::new(), margin.to_owned());
    let mut is_empty = true;
    for word in words.split(' ') {
        if !is_empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines.push(std::mem::replace(&mut line, format!("{margin}{indent}")));
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    lines.push(line);
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(lay_out(text), expected);
        assert_eq!(lay_out(expected), expected, "laying it out again changes nothing");
    }

    #[test]
    fn a_list_of_examples_that_fits_stays_as_it_is() {
        check(
            "Examples:\n  bankroll demo    plays\n  bankroll init",
            "Examples:\n  bankroll demo    plays\n  bankroll init",
        );
    }

    #[test]
    fn one_example_that_is_too_long_puts_what_all_show_under_them() {
        check(
            "Examples:\n  bankroll serve --dir casino                     books in a folder: one process\n  \
             bankroll serve --dir casino --roles books       one of several nodes: holds the books, or stands by\n  \
             bankroll serve",
            "Examples:\n  bankroll serve --dir casino\n      books in a folder: one process\n  \
             bankroll serve --dir casino --roles books\n      one of several nodes: holds the books, or stands by\n  \
             bankroll serve",
        );
    }

    #[test]
    fn a_command_that_is_too_long_continues_as_a_shell_reads_it() {
        check(
            "Examples:\n  bankroll statement 3 --from 2026-11-01 --to 2026-11-30T23:59:59Z --format csv > november.csv",
            "Examples:\n  bankroll statement 3 --from 2026-11-01 --to 2026-11-30T23:59:59Z \\\n      --format csv > november.csv",
        );
    }

    #[test]
    fn paragraphs_flow_anew_and_lists_under_their_keys() {
        check(
            "Exit codes:\n  0  done\n  4  the books are unsound: they diverge from the journal; or a hand does not verify",
            "Exit codes:\n  0  done\n  4  the books are unsound: they diverge from the journal; or a hand does not\n     verify",
        );
        check(
            "Methods:\n  sim_mine [blocks, time]                 sim_reorg [depth, length, kept|dropped|returned|reordered]\n  \
             sim_faults []     sim_contracts []\nSeveral nodes\nshow it.",
            "Methods:\n  sim_mine [blocks, time]\n  sim_reorg [depth, length, kept|dropped|returned|reordered]\n  \
             sim_faults []\n  sim_contracts []\nSeveral nodes show it.",
        );
        check(
            "Every key, card and decision follows from the seed: such hands are for looking at, not for money.\nNever.",
            "Every key, card and decision follows from the seed: such hands are for looking\nat, not for money. Never.",
        );
    }
}
