//! `assay report -o picture.svg`, `.png`, `.gif` and the pictures in the page, end to end.

use crate::common::{Place, run};

const CARDS: [&str; 3] =
    ["published:sandisk-ultra-a1", "published:sandisk-extreme-a2", "published:samsung-evo-plus-64gb"];

fn report<'a>(more: &[&'a str]) -> Vec<&'a str> {
    ["report"].iter().copied().chain(CARDS).chain(more.iter().copied()).collect()
}

#[test]
fn the_figures_of_the_articles_make_every_picture() {
    let place = Place::new();
    for picture in ["curves", "dots", "heat", "ranking", "pareto", "sweep"] {
        run(place.assay(report(&["-o", "x.svg", "--picture", picture]))).succeeds();
        let svg = std::fs::read_to_string(place.path().join("x.svg")).unwrap();
        assert!(svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n"), "{picture}");
        assert!(svg.contains("SanDisk"), "{picture}");
    }
    // Block sizes vary, so curves are what these show best.
    run(place.assay(report(&["-o", "x.svg"]))).succeeds();
    let svg = std::fs::read_to_string(place.path().join("x.svg")).unwrap();
    assert!(svg.contains("<title>Random read, 4 KiB to 256 KiB: 6 records; the bus caps all at 256 KiB"), "{svg}");
}

/// The title says what `assay rank` says, and nothing more where that says nothing.
#[test]
fn a_picture_of_what_decides_is_titled_with_the_finding() {
    let place = Place::new();
    let title = |arguments: &[&str]| {
        let svg = run(place.assay([&["report"], arguments, &["-o", "-", "--format", "svg"]].concat()));
        let (_, rest) = svg.succeeds().stdout.split_once("<title>").unwrap();
        rest.split_once("</title>").unwrap().0.to_owned()
    };
    let whole = title(&["published:", "--picture", "ranking"]);
    assert!(whole.starts_with("Random read 4 KiB, 4 jobs: Cannot separate SanDisk Ultra A1 and "), "{whole}");
    assert_eq!(whole, title(&["published:", "--picture", "dots"]));
    let one_unit_each = title(&["published:", "--picture", "ranking", "--load", "sequential read 1 MiB"]);
    assert!(one_unit_each.starts_with("Sequential read 1 MiB, MB/s: "), "{one_unit_each}");
    let two = title(&["published:sandisk-ultra-a1/1", "published:sandisk-ultra-a1/2", "--picture", "dots"]);
    assert!(two.contains(": cannot tell, SanDisk Ultra A1") && !two.contains("one value each"), "{two}");
}

#[test]
fn images_are_written_as_what_their_ending_says() {
    let place = Place::new();
    run(place.assay(report(&["-o", "x.png", "--picture", "ranking", "--load", "random write 4 KiB"]))).succeeds();
    let png = std::fs::read(place.path().join("x.png")).unwrap();
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"));
    // The width in the first chunk: 720 CSS pixels, twice.
    assert_eq!(u32::from_be_bytes(png[16..20].try_into().unwrap()), 1440);
    run(place.assay(report(&["-o", "x.gif"]))).succeeds();
    let gif = std::fs::read(place.path().join("x.gif")).unwrap();
    assert!(gif.starts_with(b"GIF89a") && gif.ends_with(b";"));
    let printed = run(place.assay(report(&["-o", "-", "--format", "svg", "--picture", "heat"])));
    assert!(printed.succeeds().stdout.ends_with("</svg>\n"));
}

#[test]
fn a_page_of_several_records_has_pictures_and_a_slider() {
    let place = Place::new();
    run(place.assay(report(&["-o", "x.html"]))).succeeds();
    let page = std::fs::read_to_string(place.path().join("x.html")).unwrap();
    assert_eq!(page.matches("class=\"frame\"").count(), 6, "a frame for each block size");
    assert!(page.contains("type=\"range\" min=\"0\" max=\"5\""));
    assert!(page.matches("<figure class=\"picture").count() >= 4);
    // The policy of the page lets no style attribute through.
    assert!(!page.contains(" style=\""));
    run(place.assay(["report", CARDS[1], "-o", "one.html"])).succeeds();
    let page = std::fs::read_to_string(place.path().join("one.html")).unwrap();
    assert!(!page.contains("class=\"frame\""), "nothing to compare");
}

#[test]
fn what_cannot_be_drawn_is_told_in_a_line() {
    let place = Place::new();
    run(place.assay(report(&["-o", "x.svg", "--load", "sequential trim"])))
        .refuses(2, &["no load is named `sequential trim`", "there are: "]);
    run(place.assay(report(&["-o", "x.svg", "--load", "random read 4KiB", "--picture", "load-curve"])))
        .refuses(2, &["nothing to draw", "needs"]);
    run(place.assay(report(&["-o", "x.gif", "--picture", "dots"]))).refuses(2, &["GIF", "dots", ".svg"]);
    run(place.assay(report(&["-o", "x.html", "--picture", "dots"]))).refuses(2, &["--picture", ".svg"]);
    run(place.assay(["report", "published:nothing", "-o", "x.svg"])).refuses(2, &["nothing", "sandisk-ultra-a1"]);
    assert!(!place.path().join("x.svg").exists());
}
