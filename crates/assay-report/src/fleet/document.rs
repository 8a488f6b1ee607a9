//! A run on many nodes as a document: odd nodes, each node, each load, the sums, and the limits that nodes share.

use assay_analysis::fleet::FleetReport;
use assay_core::text::clean;
use assay_pictures as pictures;

use super::{against, apart, slots, tables, words};
use crate::document::{Block, Document};

/// Everything that the run says.
#[must_use]
pub fn document(report: &FleetReport) -> Document {
    let mut blocks = vec![Block::Items(words::facts(report))];
    blocks.push(Block::Heading("Nodes".to_owned()));
    if !report.loads.is_empty() {
        blocks.push(Block::Picture(Box::new(pictures::nodes(report))));
        blocks.push(Block::Plain(tables::map(report)));
    }
    blocks.push(Block::Table(tables::nodes(report)));
    if !report.loads.is_empty() {
        blocks.push(Block::Heading("Workloads over all nodes".to_owned()));
        blocks.push(Block::Picture(Box::new(pictures::spread(report))));
        blocks.push(Block::Table(tables::loads(report)));
    }
    let (sums, apart) = (tables::sums(report), apart::items(report));
    if sums.is_some() || !apart.is_empty() {
        blocks.push(Block::Heading("At the same time".to_owned()));
    }
    let summed = sums.is_some();
    blocks.extend(sums.map(Block::Table));
    if !apart.is_empty() {
        blocks.push(Block::Items(apart));
    }
    if summed {
        blocks.push(Block::Folded {
            title: "The share of each node in the sums".to_owned(),
            blocks: vec![Block::Table(tables::shares(report))],
        });
    }
    if let Some(other) = &report.against {
        blocks.extend(against::blocks(report, other));
    }
    blocks.extend(slots::blocks(report));
    let excluded = words::excluded(report);
    if !excluded.is_empty() {
        blocks.push(Block::Heading("Left out".to_owned()));
        blocks.push(Block::Items(excluded));
    }
    Document {
        kind: "Run on a cluster",
        about: format!("Run {} on {}", clean(&report.run), words::count(report.nodes.len(), "node")),
        finding: words::finding(report),
        blocks,
        data: tables::data(report),
    }
}
