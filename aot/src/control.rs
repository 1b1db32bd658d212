//! Control within an extended basic block: what happens between its nodes, and how it is left.
//!
//! Events are in order, each after a node. Passes that move nodes, carry values over iterations or
//! branch around nodes change them, and the emitter writes them.

use crate::graph::NodeId;
use crate::shadow_pairs::VectorHalf;

/// A control action after a node.
#[derive(Debug)]
pub(crate) struct ControlEvent {
    pub(crate) after: NodeId,
    pub(crate) action: ControlAction,
    /// The position of the bytecode instruction that it is for.
    pub(crate) position: u32,
}

/// A control action.
#[derive(Debug)]
pub(crate) enum ControlAction {
    /// Binds a label that a branch jumps to.
    Label(u32),
    /// Exits if a mask is set or not, as `is_set` says; else falls through.
    Branch {
        mask: NodeId,
        is_set: bool,
        exit: BlockExit,
    },
    /// Takes a number of steps, or exits if not all of them are left.
    TakeSteps { steps: u32, exit: BlockExit },
    /// Exits.
    Exit(BlockExit),
}

impl ControlAction {
    /// The exit, if the action has one.
    pub(crate) fn exit(&mut self) -> Option<&mut BlockExit> {
        match self {
            ControlAction::Label(_) => None,
            ControlAction::Branch { exit, .. }
            | ControlAction::TakeSteps { exit, .. }
            | ControlAction::Exit(exit) => Some(exit),
        }
    }
}

/// An exit of an extended block.
#[derive(Debug)]
pub(crate) struct BlockExit {
    pub(crate) stores: Vec<RegisterStore>,
    /// Moved after that, all at once: values to the locations of nodes of the extended block.
    pub(crate) loop_carried: Vec<(NodeId, NodeId)>,
    pub(crate) target: ExitTarget,
}

impl BlockExit {
    /// An exit without stores.
    pub(crate) fn to(to: ExitTarget) -> BlockExit {
        BlockExit {
            stores: Vec::new(),
            loop_carried: Vec::new(),
            target: to,
        }
    }
}

/// A store to a VM register.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RegisterStore {
    pub(crate) vm_register: u32,
    pub(crate) value: NodeId,
    pub(crate) half: VectorHalf,
}

/// The target of an exit.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ExitTarget {
    /// A label: a block, or, from their number on, the rest of one.
    Label(u32),
    /// Another iteration of the current extended block.
    NextIteration,
    /// An exit of the point CFG.
    Exit(u32),
}
