//! The six degrees of freedom of a tool, and sets of them.

/// A degree of freedom of a tool, in its own frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Dof {
    /// Translation along x (m).
    X,
    /// Translation along y (m).
    Y,
    /// Translation along z, out of the skin (m).
    Z,
    /// Rotation about x (rad).
    Rx,
    /// Rotation about y (rad).
    Ry,
    /// Rotation about z (rad).
    Rz,
}

impl Dof {
    /// All six, in the order that every array of this module uses.
    pub const ALL: [Self; 6] = [Self::X, Self::Y, Self::Z, Self::Rx, Self::Ry, Self::Rz];
}

/// A set of controlled degrees of freedom: the diagonal of a selection matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dofs([bool; 6]);

impl Dofs {
    /// The set of the given degrees of freedom.
    pub fn of(selected: &[Dof]) -> Self {
        Self(Dof::ALL.map(|dof| selected.contains(&dof)))
    }

    /// All six.
    pub fn all() -> Self {
        Self([true; 6])
    }

    /// Whether the set contains a degree of freedom.
    pub fn has(&self, dof: Dof) -> bool {
        self.0[dof as usize]
    }

    /// The degrees of freedom in the set, in order.
    pub fn iter(&self) -> impl Iterator<Item = Dof> + '_ {
        Dof::ALL.into_iter().filter(|&dof| self.has(dof))
    }
}
