//! Cancellation: after how many steps of the active points the host is asked whether to stop them.

use super::chunk::{Chunk, RunContext, Site};
use adumbra_ir::host::{FaultKind, QueryPeriod};

impl Chunk {
    /// Asks the host about cancellation, if that is due after these steps.
    pub(super) fn check_cancellation(
        &mut self,
        taken: u64,
        context: &mut RunContext<'_>,
        site: Site,
    ) {
        if self.active.points > 0 && self.query_period.is_due(self.account.left(), taken) {
            self.query(context, site);
        }
    }

    /// Asks the host whether to stop the active points. Once it cancels, it is asked about the
    /// others at each of their steps.
    #[cold]
    #[inline(never)]
    pub(super) fn query(&mut self, context: &mut RunContext<'_>, site: Site) {
        if context.host.is_cancelled() {
            self.stop(site, |_| Some(FaultKind::Cancelled));
            self.ask_at_every_step();
        }
    }

    /// For the rest of the run, the host is asked at every step.
    pub(super) fn ask_at_every_step(&mut self) {
        self.query_period = QueryPeriod::EVERY_STEP;
        for machine in &mut self.point_machines {
            machine.ask_after(QueryPeriod::EVERY_STEP);
        }
    }

    /// Before a run, the host is asked as often as the program's steps are long.
    pub(super) fn ask_by_work(&mut self) {
        self.query_period = self.work_period;
        for machine in &mut self.point_machines {
            machine.ask_after(self.point_period);
        }
    }
}
