//! What `bankroll chain` says when it starts, to people.

use std::{
    io::{BufRead, BufReader},
    process::Stdio,
};

use crate::program::{command, folder, run};

#[test]
fn the_start_fits_eighty_columns_and_its_configuration_can_be_copied() {
    let folder = folder();
    let mut chain = command(folder.path());
    let mut process = chain.args(["chain", "--port", "0"]).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(process.stdout.take().unwrap()).lines().map(Result::unwrap);
    let text: Vec<String> = lines.take_while(|line| line != "Ctrl-C ends it.").collect();
    process.kill().unwrap();
    process.wait().unwrap();
    // The name of this program is as long as its folder.
    for line in text.iter().filter(|line| !line.contains(" chain pay ")) {
        assert!(line.chars().count() <= 80, "{line}");
    }
    assert!(text.contains(&"  id       31337".to_owned()), "{text:#?}");
    assert!(text.contains(&"  0  0xB0415d24E4E727E7918CcFd9BccfCB560f0659cf".to_owned()), "{text:#?}");
    let copied: Vec<&str> = text
        .iter()
        .map(|line| line.trim())
        .skip_while(|line| *line != "[chain]")
        .take_while(|l| !l.is_empty())
        .collect();
    assert_eq!(copied.len(), 4, "{text:#?}");
    let wallet = "wallet = \"0x9c36B95A952c3450B32e77fDcd6464C2F91dD09E\"";
    std::fs::write(folder.path().join("bankroll.toml"), format!("{}\n{wallet}\n", copied.join("\n"))).unwrap();
    run(folder.path(), &["config", "check"]).ok();
}
