//! Choices taken from the bytes of an input, so that a mutation of a byte changes one choice.

/// What is left of an input. At its end all choices are 0: the plainest.
pub(crate) struct Draw<'a>(&'a [u8]);

impl<'a> Draw<'a> {
    pub(crate) fn new(data: &'a [u8]) -> Self {
        Self(data)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    pub(crate) fn number(&mut self) -> u64 {
        u64::from_le_bytes(std::array::from_fn(|_| self.byte()))
    }

    /// A number below `bound`, which is at most 2^16.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let low = usize::from(self.byte());
        let value = if bound > 256 { low << 8 | usize::from(self.byte()) } else { low };
        value % bound.max(1)
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> Option<T> {
        let at = self.below(from.len());
        from.get(at).copied()
    }

    pub(crate) fn bytes(&mut self, length: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(length.min(self.0.len()));
        self.0 = rest;
        taken
    }
}
