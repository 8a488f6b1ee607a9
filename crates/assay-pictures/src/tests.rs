//! What holds of every picture.

use assay_analysis::published;
use assay_core::finding::Finding;
use assay_core::medium::Bus;
use assay_core::observation::Observation;

use super::{Decided, Drawing, PictureKind, Ranking, Wanted, still};
use crate::film;

const KINDS: [PictureKind; 6] = [
    PictureKind::Curves,
    PictureKind::Dots,
    PictureKind::Heat,
    PictureKind::Ranking,
    PictureKind::Pareto,
    PictureKind::Sweep,
];
const HOSTILE: &str = "\u{1b}[2J<script>alert(1)</script>\"'&]]>\u{202e}<!-- 漢字";

/// The cards of the second article, without the bus that it states.
fn cards() -> Vec<Observation> {
    let mut records: Vec<Observation> = ["sandisk-extreme-a2", "samsung-evo-plus-64gb", "sandisk-ultra-a1"]
        .iter()
        .flat_map(|name| published(name).unwrap())
        .collect();
    records.iter_mut().for_each(|record| record.medium.bus = None);
    records
}

/// The same as if they had been measured: with a bus, intervals and one invalid figure.
fn measured() -> Vec<Observation> {
    let mut records = cards();
    for record in &mut records {
        record.origin = assay_core::observation::ObservedOrigin::default();
        record.medium.bus = Some(Bus {
            kind: "sd".into(),
            mode: "SDR25".into(),
            ceiling_bytes_per_second: Some(25e6),
            reachable_bytes_per_second: Some(23.3e6),
            driver: None,
            source: String::new(),
        });
        for m in &mut record.measurements {
            let e = m.bytes_per_second.as_mut().unwrap();
            (e.n, e.level, e.low, e.high) = (3, Some(0.95), Some(e.point * 0.95), Some(e.point * 1.04));
        }
    }
    records[0].measurements[2].warnings.push(Finding::ServedFromCache { proof_ratio: 0.02 }.into());
    records
}

fn hostile() -> Vec<Observation> {
    let mut records = measured();
    for record in &mut records {
        record.labels.insert("model".into(), format!("{HOSTILE}{}", record.id));
        record.medium.bus.as_mut().unwrap().mode = HOSTILE.into();
    }
    records
}

fn drawn(kind: PictureKind, records: &[Observation]) -> Drawing {
    still(kind, records, &Wanted::default()).unwrap()
}

/// Checks that elements close in order, attributes are quoted, and no text is left unescaped.
fn well_formed(svg: &str) -> Result<usize, String> {
    let mut open: Vec<&str> = Vec::new();
    let mut elements = 0;
    let mut rest = svg.trim_end();
    while let Some(at) = rest.find('<') {
        let text = &rest[..at];
        if text.contains('>') || (open.is_empty() && !text.is_empty()) {
            return Err(format!("stray text {text:?}"));
        }
        entities(text)?;
        let end = rest.find('>').ok_or("an element has no end")?;
        let tag = &rest[at + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            if open.pop() != Some(name) {
                return Err(format!("{name} closes what is not open"));
            }
            continue;
        }
        elements += 1;
        let inner = tag.strip_suffix('/').unwrap_or(tag);
        let (name, attributes) = inner.split_once(' ').unwrap_or((inner, ""));
        let quotes: Vec<&str> = attributes.split('"').collect();
        if quotes.len().is_multiple_of(2) || quotes.iter().step_by(2).any(|q| !q.is_empty() && !q.ends_with('=')) {
            return Err(format!("attributes of {tag:?}"));
        }
        quotes.iter().try_for_each(|q| entities(q))?;
        if !["svg", "title", "desc", "rect", "path", "circle", "text"].contains(&name) {
            return Err(format!("an element {name:?}"));
        }
        if !tag.ends_with('/') {
            open.push(name);
        }
    }
    if open.is_empty() && rest.is_empty() { Ok(elements) } else { Err(format!("open: {open:?}, rest {rest:?}")) }
}

fn entities(text: &str) -> Result<(), String> {
    for part in text.split('&').skip(1) {
        let known = ["amp;", "lt;", "gt;", "quot;", "#39;"];
        if !known.iter().any(|entity| part.starts_with(entity)) {
            return Err(format!("a bare & before {part:?}"));
        }
    }
    if text.chars().any(|c| c.is_control() && c != '\n') { Err("a control character".into()) } else { Ok(()) }
}

#[test]
fn the_check_itself_finds_what_is_malformed() {
    for bad in ["<svg><text>a</svg>", "<svg>a & b</svg>", "<svg x=\"1>", "<svg><script/></svg>", "<svg>a > b</svg>"] {
        assert!(well_formed(bad).is_err(), "{bad}");
    }
    assert_eq!(well_formed("<svg a=\"1\"><text>x &amp; y</text><rect/></svg>\n"), Ok(3));
}

/// Nodes of a run. One writes slowly, and one has a figure that is not a number.
fn nodes() -> Vec<Observation> {
    let mut records = hostile();
    for (at, record) in records.iter_mut().enumerate() {
        record.labels = [("fleet", "run".to_owned()), ("node", format!("{HOSTILE}{at}")), ("unit", at.to_string())]
            .map(|(key, value)| (key.to_owned(), value))
            .into();
        record.labels.insert("model".to_owned(), HOSTILE.to_owned());
    }
    for measurement in &mut records[1].measurements {
        if let Some(estimate) = &mut measurement.iops {
            estimate.point = f64::NAN;
        }
    }
    records
}

#[test]
fn pictures_of_nodes_need_a_run_and_are_well_formed() {
    for kind in [PictureKind::Nodes, PictureKind::Spread] {
        assert!(still(kind, &measured(), &Wanted::default()).is_err());
        let svg = drawn(kind, &nodes()).svg();
        assert!(well_formed(&svg).unwrap_or_else(|e| panic!("{kind:?}: {e}")) > 20);
        assert!(!svg.contains("NaN") && !svg.contains("inf\""), "{kind:?}");
        drawn(kind, &nodes()).png(1.0).unwrap();
    }
}

#[test]
fn every_picture_is_well_formed_and_the_same_each_time_and_has_only_numbers() {
    for records in [cards(), measured(), hostile(), published("").unwrap()] {
        for kind in KINDS {
            let svg = drawn(kind, &records).svg();
            assert!(well_formed(&svg).unwrap_or_else(|e| panic!("{kind:?}: {e}")) > 20);
            assert_eq!(svg, drawn(kind, &records).svg(), "{kind:?}");
            assert!(!svg.contains("NaN") && !svg.contains("inf "), "{kind:?}");
            assert!(!svg.contains("<script") && !svg.contains('\u{202e}') && !svg.contains("href"), "{kind:?}");
        }
    }
}

#[test]
fn nothing_stands_outside_its_picture() {
    for records in [cards(), measured(), hostile(), published("").unwrap()] {
        for kind in KINDS {
            let drawing = drawn(kind, &records);
            for shape in &drawing.shapes {
                let points: Vec<(f64, f64)> = match shape {
                    super::paint::Shape::Path { points, .. } => points.clone(),
                    super::paint::Shape::Circle { x, y, .. } => vec![(*x, *y)],
                    super::paint::Shape::Text(t) if t.turn == 0.0 => {
                        let width = super::font::width(&t.text, t.size, t.bold);
                        // With the widest of the fonts that a reader may have.
                        let start = match t.anchor {
                            super::paint::Anchor::Start => t.x,
                            super::paint::Anchor::Middle => t.x - width / 2.0,
                            super::paint::Anchor::End => t.x - width,
                        };
                        vec![(start, t.y), (start + width, t.y)]
                    }
                    super::paint::Shape::Text(t) => vec![(t.x, t.y)],
                };
                for (x, y) in points {
                    let inside = (0.0..=drawing.width).contains(&x) && (0.0..=drawing.height).contains(&y);
                    assert!(inside, "{kind:?}: {x}, {y} of {:?}: {shape:?}", drawing.size());
                }
            }
        }
    }
}

#[test]
fn titles_of_curves_say_from_where_the_bus_caps_all() {
    let title = drawn(PictureKind::Curves, &cards()).title().to_owned();
    assert_eq!(title, "Random read, 4 KiB to 256 KiB: 6 records; from 128 KiB all figures lie within 10 %");
    // 22.4 and more of 23.3 MB/s are within 5 % of it at the last size, and only there for all.
    let title = drawn(PictureKind::Curves, &measured()).title().to_owned();
    assert_eq!(title, "Random read, 4 KiB to 256 KiB: 6 records; the bus caps all at 256 KiB");
    let title = drawn(PictureKind::Curves, &cards()[..1]).title().to_owned();
    assert!(title.contains(" MB/s at 4 KiB random read") && !title.contains("records"), "{title}");
    let mut invalid = measured()[..1].to_vec();
    for measurement in &mut invalid[0].measurements {
        measurement.warnings.push(Finding::ServedFromCache { proof_ratio: 0.02 }.into());
    }
    assert_eq!(drawn(PictureKind::Curves, &invalid).title(), "No valid figure of random read, 4 jobs");
}

/// Figures alone show no order of the media: only a given finding names the best.
#[test]
fn titles_say_what_is_shown_where_nothing_was_found() {
    let load = assay_analysis::loads(&cards())[0].clone();
    for (kind, said) in [
        (PictureKind::Ranking, "Random read 4 KiB, 4 jobs, IOPS: 6 records"),
        (PictureKind::Dots, "Random read 4 KiB, 4 jobs, IOPS: 6 units of 3 models"),
        (PictureKind::Pareto, "Random read 4 KiB, 4 jobs and random write 4 KiB, 4 jobs of 6 records"),
        (PictureKind::Heat, "6 records under 12 loads"),
    ] {
        assert_eq!(drawn(kind, &cards()).title(), said);
        let decided = Decided { load: load.clone(), title: Some("A is the best".to_owned()) };
        let title = still(kind, &cards(), &Wanted::default().decided(Some(decided))).unwrap().title().to_owned();
        assert_eq!(title == "A is the best", kind.of_what_decides(), "{title}");
    }
    let rows = Ranking::from_records(&cards(), &Wanted::default()).unwrap().rows;
    assert!(rows.windows(2).all(|pair| pair[0].value.point >= pair[1].value.point), "{rows:?}");
    let one_model = published("sandisk-ultra-a1").unwrap();
    let title = still(PictureKind::Dots, &one_model, &Wanted::default()).unwrap().title().to_owned();
    assert_eq!(title, "Random read 4 KiB, 4 jobs, IOPS: 3 units of SanDisk Ultra A1, whose figures lie within 10 %");
}

#[test]
fn ceilings_are_drawn_where_they_are_known_and_said_to_be_unknown_otherwise() {
    for kind in [PictureKind::Curves, PictureKind::Sweep] {
        let svg = drawn(kind, &measured()).svg();
        assert!(svg.contains("SDR25 allows 23.3"), "{kind:?}");
        let dashed = "stroke=\"#b02318\" stroke-width=\"1.4\" stroke-linejoin=\"round\" stroke-dasharray=\"7 4\"";
        assert!(svg.contains(dashed), "{kind:?}");
        assert!(!drawn(kind, &cards()).svg().contains("#b02318"), "{kind:?}");
    }
    assert!(drawn(PictureKind::Curves, &cards()).svg().contains("ceiling of the bus is not known"));
}

#[test]
fn records_without_a_figure_are_counted() {
    let mut records = cards();
    let note_of = |records: &[Observation]| drawn(PictureKind::Dots, records).svg().replace('\u{a0}', " ");
    assert!(!note_of(&records).contains("have no figure"));
    records[1].measurements.clear();
    let note = format!("1 of {} records have no figure of this load.", records.len());
    assert!(note_of(&records).contains(&note), "{}", note_of(&records));
}

#[test]
fn a_text_begins_where_its_anchor_says() {
    let start = |anchor| {
        let (ink, text) = (super::paint::Colour([0; 3]), "4 KiB".to_owned());
        let text = super::paint::Text { x: 100.0, y: 0.0, size: 12.0, ink, anchor, bold: false, turn: 0.0, text };
        text.start()
    };
    let width = super::font::drawn("4 KiB", 12.0, false);
    assert!(width > 20.0, "{width}");
    assert_eq!(start(super::paint::Anchor::Start), 100.0);
    assert_eq!(start(super::paint::Anchor::Middle), 100.0 - width / 2.0);
    assert_eq!(start(super::paint::Anchor::End), 100.0 - width);
}

#[test]
fn what_is_invalid_is_named_and_not_drawn() {
    let records = measured();
    let block = records[0].measurements[2].workload.block_bytes;
    let note = format!("Not drawn: SanDisk Extreme A2 at {} (invalid).", assay_core::units::Bytes(block));
    let svg = drawn(PictureKind::Curves, &records).svg().replace('\u{a0}', " ");
    assert!(svg.contains(&note), "{note} in {svg}");
    assert!(!drawn(PictureKind::Curves, &cards()).svg().contains("Not drawn"));
}

#[test]
fn png_has_the_size_of_the_picture_and_is_not_blank() {
    let drawing = drawn(PictureKind::Ranking, &measured());
    let image = tiny_skia::Pixmap::decode_png(&drawing.png(1.0).unwrap()).unwrap();
    assert_eq!((f64::from(image.width()), f64::from(image.height())), drawing.size());
    let dark = image.pixels().iter().filter(|p| p.red() < 90 && p.blue() < 90).count();
    assert!(dark > 1000, "{dark} dark pixels");
    assert!(image.pixels().iter().all(|p| p.alpha() == 255));
    assert!(drawing.png(100.0).unwrap_err().to_string().contains("write it as .svg"));
}

#[test]
fn the_film_has_a_frame_for_each_block_size_and_pauses_at_its_end() {
    let film = film(&measured(), &Wanted::default()).unwrap();
    assert!(film.frames().all(|(_, d)| d.size() == film.frames[0].1.size()), "one covers the other");
    let names: Vec<&str> = film.frames().map(|(name, _)| name).collect();
    assert_eq!(names, ["4 KiB", "16 KiB", "32 KiB", "64 KiB", "128 KiB", "256 KiB"]);
    let gif = film.gif(0.5).unwrap();
    let mut reader = gif::DecodeOptions::new().read_info(&gif[..]).unwrap();
    assert_eq!(u32::from(reader.width()), 360);
    let mut delays = Vec::new();
    while let Some(frame) = reader.read_next_frame().unwrap() {
        delays.push(frame.delay);
    }
    assert_eq!(delays.len(), names.len());
    assert!(delays[..5].iter().all(|d| *d < delays[5]), "{delays:?}");
    assert_eq!(gif, crate::film(&measured(), &Wanted::default()).unwrap().gif(0.5).unwrap());
}

#[test]
fn a_picture_of_what_is_not_there_says_what_it_needs() {
    let none = still(PictureKind::Curves, &[], &Wanted::default()).unwrap_err().to_string();
    assert_eq!(
        none,
        "there is nothing to draw as curves: it needs figures of one kind of load at two block sizes or more"
    );
    for kind in KINDS {
        assert!(still(kind, &[], &Wanted::default()).is_err());
    }
}

#[test]
fn loads_are_named_as_everywhere() {
    for words in ["Random write, 64 KiB", "write 64KiB", "random write 64 KiB, 4 jobs"] {
        let wanted = Wanted::named(&cards(), Some(words)).unwrap_or_else(|e| panic!("{e}"));
        let write = still(PictureKind::Dots, &cards(), &wanted).unwrap();
        assert!(write.title().starts_with("Random write 64 KiB"), "{}", write.title());
    }
    let banana = Wanted::named(&cards(), Some("banana")).unwrap_err().to_string();
    assert!(banana.contains("`banana` is not part of a load") && banana.contains("; there are: "), "{banana}");
}

#[test]
fn letters_are_drawn_between_the_ends_of_their_text() {
    let (x, y, size, said) = (60.0, 30.0, 20.0, "4 KiB");
    let (title, description) = (String::new(), String::new());
    let mut drawing = Drawing { width: 200.0, height: 40.0, title, description, shapes: Vec::new() };
    drawing.text(x, y, size, super::paint::INK, super::paint::Anchor::Start, said);
    let pixels = drawing.pixels(1.0).unwrap();
    let dark = |at: &usize| pixels.pixels()[*at].red() < 128;
    let dark: Vec<usize> = (0..pixels.pixels().len()).filter(dark).collect();
    let columns = || dark.iter().map(|at| (at % 200) as f64);
    let (left, right) = (columns().fold(200.0, f64::min), columns().fold(0.0, f64::max));
    let end = x + super::font::drawn(said, size, false);
    assert!((x - 1.0..x + 5.0).contains(&left) && (end - 5.0..end + 1.0).contains(&right), "{left} to {right}");
    assert!(dark.iter().all(|at| (y - size..y + 1.0).contains(&((at / 200) as f64))), "above and below the line");
}

#[test]
fn the_steps_of_a_key_adjoin_and_their_figures_stand_below() {
    use super::paint::Shape;
    for (kind, records, steps, figures) in [(PictureKind::Heat, cards(), 10, 0), (PictureKind::Nodes, nodes(), 9, 5)] {
        let drawing = drawn(kind, &records);
        let rects = drawing.shapes.iter().filter_map(|shape| match shape {
            Shape::Path { points, closed: true, .. } if points.len() == 4 && points[2].1 - points[0].1 == 9.0 => {
                Some((points[0], points[2]))
            }
            _ => None,
        });
        let rects: Vec<_> = rects.collect();
        assert_eq!(rects.len(), steps, "{kind:?}");
        assert!(rects.windows(2).all(|pair| (pair[0].1.0 - pair[1].0.0).abs() < 1e-9), "{kind:?}: {rects:?}");
        let bottom = rects[0].1.1;
        let below = drawing.shapes.iter().filter(|shape| match shape {
            Shape::Text(text) => text.text.starts_with('×') && text.y > bottom + 5.0 && text.y < bottom + 20.0,
            _ => false,
        });
        assert_eq!(below.count(), figures, "{kind:?}");
    }
}
