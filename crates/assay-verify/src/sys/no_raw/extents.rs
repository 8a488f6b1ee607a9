//! Where on its device a file lies is not asked.

use std::fs::File;

use crate::files::Extent;

/// `None`: which sectors of one device stand in for others is not judged.
pub(crate) fn extents(_file: &File, _bytes: u64) -> Option<Vec<Extent>> {
    None
}
