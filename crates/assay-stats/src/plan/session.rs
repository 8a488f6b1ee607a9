//! The order of workloads in the session of one unit.

/// A workload, as far as its place depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Workload {
    /// It writes.
    pub writes: bool,
    /// Block size in bytes.
    pub block_bytes: u64,
}

/// Indexes of `workloads` in the order in which unit `unit` (its index) meets them in `round`.
///
/// All reads come before all writes, which leave the medium in another state. Reads follow rows of
/// Williams' design, in which each follows each other one equally often over the units (Williams
/// 1949); an odd number of reads takes its rows forwards and backwards. Writes go from small to
/// large blocks, starting at another one each time.
#[must_use]
pub fn session(workloads: &[Workload], unit: usize, round: usize) -> Vec<usize> {
    let (mut writes, reads): (Vec<usize>, Vec<usize>) = (0..workloads.len()).partition(|i| workloads[*i].writes);
    writes.sort_by_key(|i| workloads[*i].block_bytes);
    let turn = unit + round;
    let mut order: Vec<usize> = williams(reads.len(), turn).into_iter().map(|i| reads[i]).collect();
    if !writes.is_empty() {
        let start = turn % writes.len();
        writes.rotate_left(start);
    }
    order.append(&mut writes);
    order
}

/// Row `turn` of the design for `t` treatments: 0, 1, t-1, 2, t-2, … plus the row, modulo t.
fn williams(t: usize, turn: usize) -> Vec<usize> {
    if t == 0 {
        return Vec::new();
    }
    let mut row: Vec<usize> =
        (0..t).map(|place| if place % 2 == 1 { place.div_ceil(2) } else { (t - place / 2) % t }).collect();
    row.iter_mut().for_each(|treatment| *treatment = (*treatment + turn) % t);
    if t % 2 == 1 && (turn / t) % 2 == 1 {
        row.reverse();
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_base_row_is_that_of_williams() {
        assert_eq!(williams(4, 0), [0, 1, 3, 2]);
        assert_eq!(williams(6, 0), [0, 1, 5, 2, 4, 3]);
        assert_eq!(williams(1, 5), [0]);
        assert!(williams(0, 3).is_empty());
    }

    #[test]
    fn each_read_follows_each_other_one_equally_often() {
        for (t, rows, times) in [(2, 2, 1), (4, 4, 1), (6, 6, 1), (3, 6, 2), (5, 10, 2)] {
            let mut follows = vec![vec![0; t]; t];
            for turn in 0..rows {
                let row = williams(t, turn);
                row.windows(2).for_each(|pair| follows[pair[0]][pair[1]] += 1);
            }
            for (a, row) in follows.iter().enumerate() {
                for (b, count) in row.iter().enumerate() {
                    assert_eq!(*count, if a == b { 0 } else { times }, "{t}: {b} after {a}");
                }
            }
        }
    }

    #[test]
    fn reads_come_first_and_writes_start_elsewhere_each_time() {
        let read = |block_bytes| Workload { writes: false, block_bytes };
        let write = |block_bytes| Workload { writes: true, block_bytes };
        let all = [write(131_072), read(4096), write(4096), read(131_072), write(16_384)];
        assert_eq!(session(&all, 0, 0), [1, 3, 2, 4, 0]);
        assert_eq!(session(&all, 1, 0), [3, 1, 4, 0, 2]);
        assert_eq!(session(&all, 1, 0), session(&all, 0, 1));
        assert!(session(&[], 3, 1).is_empty());
        assert_eq!(session(&[write(4096)], 3, 1), [0]);
    }
}
