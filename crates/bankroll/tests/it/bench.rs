//! `bankroll bench`: the shape of its JSON, and how it fails when nothing can be measured. The figures themselves depend
//! on the machine.

use crate::program::{folder, run};

#[test]
fn the_proofs_of_a_hand_are_measured_on_three_curves_and_the_evaluator_against_another() {
    let report = run(folder().path(), &["bench", "poker", "--quick", "--json"]).json();
    let rows = report["rows"].as_array().unwrap();
    let of = |curve: &str| -> Vec<_> { rows.iter().filter(|row| row["curve"] == curve).collect() };
    let shown: Vec<_> = of("secp256k1").iter().map(|row| (row["what"].as_str().unwrap(), &row["target_ms"])).collect();
    let expected = [
        ("shuffle 52 cards", None),
        ("prove a shuffle", Some(15.0)),
        ("verify a shuffle", Some(6.0)),
        ("verify 7 shuffles at once, each", Some(4.0)),
        ("decode a shuffle message", None),
        ("verify 100 equality proofs at once, each", Some(0.1)),
        ("shuffle proof", None),
        ("deck", None),
    ];
    assert_eq!(shown.iter().map(|(what, target)| (*what, target.as_f64())).collect::<Vec<_>>(), expected);
    assert!(rows.iter().all(|row| row["ms"].as_f64().is_none_or(|ms| ms > 0.0)));
    let [.., proof, deck] = &of("secp256k1")[..] else { panic!("{report}") };
    assert_eq!(
        (&proof["bytes"], &proof["target_bytes"], &deck["bytes"]),
        (&5_320.into(), &6_000.into(), &3_432.into())
    );
    assert_eq!((of("bn254").len(), of("grumpkin").len(), rows.len()), (8, 8, 26));
    // Ours and the best crate's, on the same hands in the same run.
    let rates: Vec<_> = rows.iter().filter(|row| row["per_s"].is_number()).collect();
    let named: Vec<_> = rates.iter().map(|row| (row["what"].as_str().unwrap(), row["hands"].as_u64())).collect();
    assert_eq!(named, [("evaluate seven cards", Some(20_000)), ("evaluate seven cards with aya_poker", Some(20_000))]);
    assert!(rates.iter().all(|row| row["per_s"].as_f64().unwrap() > 0.0));
}

#[test]
fn transfers_over_http_are_measured_with_both_parts_of_their_cost_and_leave_nothing_behind() {
    let folder = folder();
    let report = run(folder.path(), &["bench", "http", "--quick", "--json"]).json();
    let rows = report["rows"].as_array().unwrap();
    let shapes: Vec<_> = rows.iter().map(|row| row["shape"].as_str().unwrap()).collect();
    assert_eq!(shapes, ["64x1", "64x100", "4x8000"]);
    for row in rows {
        let fields: Vec<_> = row.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(fields.len(), 6, "{row}");
        for field in ["per_s", "p50_ms", "p99_ms", "noop_per_s", "ledger_per_s"] {
            assert!(row[field].as_f64().unwrap() > 0.0, "{field}: {row}");
        }
    }
    assert!(report["token_check_us"].as_f64().unwrap() > 0.0, "{report}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "the books are removed");
}

#[test]
fn slow_consumers_of_events_are_measured_side_by_side_with_none_and_leave_nothing_behind() {
    let folder = folder();
    let report = run(folder.path(), &["bench", "events", "--quick", "--json"]).json();
    assert_eq!((&report["shape"], &report["streams"], &report["endpoints"]), (&"32x1".into(), &100.into(), &10.into()));
    let rows = report["rows"].as_array().unwrap();
    let names: Vec<_> = rows.iter().map(|row| row["consumers"].as_str().unwrap()).collect();
    assert_eq!(names, ["none", "streams", "endpoints", "both"]);
    for field in ["per_s", "p99_ms", "ratio"] {
        assert!(rows.iter().all(|row| row[field].as_f64().unwrap() > 0.0), "{field}: {report}");
    }
    assert_eq!(report["ratio"], rows[3]["ratio"]);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "the books are removed");
}

#[test]
fn blocks_are_read_exactly_beside_the_raw_rate_and_nothing_but_the_replay_file_stays() {
    let folder = folder();
    let arguments = ["bench", "deposits", "--quick", "--blocks", "20", "--replay", ".", "--json"];
    let report = run(folder.path(), &arguments).json();
    assert_eq!(report.as_object().unwrap().keys().collect::<Vec<_>>(), ["backfill", "visible_ms"]);
    let rows = report["backfill"].as_array().unwrap();
    let cells: Vec<_> =
        rows.iter().map(|row| (row["mode"].as_str().unwrap(), row["watched"].as_u64().unwrap())).collect();
    let expected =
        ["transactions", "traces"].into_iter().flat_map(|mode| [10, 1_000, 100_000].map(|count| (mode, count)));
    assert_eq!(cells, expected.collect::<Vec<_>>());
    for row in rows {
        assert_eq!(row.as_object().unwrap().len(), 5, "{row}");
        for field in ["blocks_per_s", "raw_blocks_per_s"] {
            assert!(row[field].as_f64().unwrap() > 0.0, "{field}: {row}");
        }
        assert!(row["rss_mib"].is_u64(), "{row}");
    }
    let visible = &report["visible_ms"];
    assert_eq!((visible.as_object().unwrap().len(), &visible["n"]), (3, &4.into()));
    assert!(visible["p50"].as_f64().unwrap() > 0.0 && visible["p99"].as_f64() >= visible["p50"].as_f64(), "{visible}");
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(matches!(&left[..], [file] if file.to_string_lossy().ends_with("-20-blocks")), "{left:?}");
}

#[test]
fn an_unreachable_server_is_reported_before_anything_is_measured() {
    for (address, why) in [
        ("postgres://nobody@127.0.0.1:1/books", "cannot connect to Postgres"),
        ("127.0.0.1", "begins with postgres://"),
    ] {
        let ended = run(folder().path(), &["bench", "ledger", "--postgres", address]);
        assert!(!ended.stderr.contains("32 x 1"), "{}", ended.stderr);
        ended.fails(1, &[why]);
    }
}
