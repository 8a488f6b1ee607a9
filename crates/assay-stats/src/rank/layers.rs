//! Ranks, layers and medals from the relation "better than" between pairs.
//!
//! Rank sets: Mogstad, Romano, Shaikh and Wilhelm (2024), "Inference for ranks with applications to mobility across
//! neighbourhoods and academic achievement across countries", Review of Economic Studies. Layers peel a partial order,
//! so that models in one layer are not ordered, and the paradoxes of letter displays do not arise.

use serde::Serialize;

/// A place on the podium.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Medal {
    /// In the first layer.
    Gold,
    /// In the second layer.
    Silver,
    /// In the third layer.
    Bronze,
}

impl Medal {
    /// The medal of a layer, counted from 0.
    #[must_use]
    pub(crate) fn of_layer(layer: usize) -> Option<Self> {
        [Self::Gold, Self::Silver, Self::Bronze].get(layer).copied()
    }
}

/// The relation "better than" among `n` models.
#[derive(Debug)]
pub(super) struct Order {
    n: usize,
    better: Vec<bool>,
}

impl Order {
    pub(super) fn new(n: usize) -> Self {
        Self { n, better: vec![false; n * n] }
    }

    pub(super) fn set(&mut self, better: usize, worse: usize) {
        self.better[better * self.n + worse] = true;
    }

    fn is_better(&self, a: usize, b: usize) -> bool {
        self.better[a * self.n + b]
    }

    /// First and last rank that `k` may have, counted from 1.
    pub(super) fn ranks(&self, k: usize) -> (usize, usize) {
        let above = (0..self.n).filter(|&j| self.is_better(j, k)).count();
        let below = (0..self.n).filter(|&j| self.is_better(k, j)).count();
        (1 + above, self.n - below)
    }

    /// The layer of each model, counted from 0: no remaining model is better than a member of the next layer.
    pub(super) fn layers(&self) -> Vec<usize> {
        let mut layers = vec![usize::MAX; self.n];
        let mut left = self.n;
        let mut layer = 0;
        while left > 0 {
            let open = |k: usize, layers: &[usize]| layers[k] == usize::MAX;
            let mut members: Vec<usize> = (0..self.n)
                .filter(|&k| open(k, &layers))
                .filter(|&k| !(0..self.n).any(|j| open(j, &layers) && self.is_better(j, k)))
                .collect();
            if members.is_empty() {
                // A cycle, which ordered means cannot produce. All remaining models share a layer.
                members = (0..self.n).filter(|&k| open(k, &layers)).collect();
            }
            for k in &members {
                layers[*k] = layer;
            }
            left -= members.len();
            layer += 1;
        }
        layers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peeling_by_hand() {
        // 0 > 2, 0 > 3, 1 > 3, nothing else: 1 shares the first layer with 0, 3 the second with 2.
        let mut order = Order::new(4);
        for (a, b) in [(0, 2), (0, 3), (1, 3)] {
            order.set(a, b);
        }
        assert_eq!(order.layers(), [0, 0, 1, 1]);
        assert_eq!((0..4).map(|k| order.ranks(k)).collect::<Vec<_>>(), [(1, 2), (1, 3), (2, 4), (3, 4)]);
        let mut circle = Order::new(2);
        circle.set(0, 1);
        circle.set(1, 0);
        assert_eq!(circle.layers(), [0, 0], "ends");
        assert_eq!(Medal::of_layer(2), Some(Medal::Bronze));
        assert_eq!(Medal::of_layer(3), None);
    }
}
