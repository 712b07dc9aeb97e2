//! The six degrees of freedom of a tool, and sets of them.

/// A degree of freedom of a tool, in its own frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Dof {
    /// Along x (m).
    X,
    /// Along y (m).
    Y,
    /// Along z, out of the skin (m).
    Z,
    /// About x (rad).
    Rx,
    /// About y (rad).
    Ry,
    /// About z (rad).
    Rz,
}

impl Dof {
    /// All six, in the order of every array here.
    pub const ALL: [Self; 6] = [Self::X, Self::Y, Self::Z, Self::Rx, Self::Ry, Self::Rz];
}

/// Which degrees of freedom are controlled: a selection matrix with its diagonal in order.
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

    /// Whether one is in the set.
    pub fn has(&self, dof: Dof) -> bool {
        self.0[dof as usize]
    }

    /// Those in the set, in order.
    pub fn iter(&self) -> impl Iterator<Item = Dof> + '_ {
        Dof::ALL.into_iter().filter(|&dof| self.has(dof))
    }
}
