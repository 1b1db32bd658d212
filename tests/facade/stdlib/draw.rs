//! Points at random, the same in every run: values of the variables with their shadows.

use super::suite::Domain;
use adumbra::{Globals, GlobalsLayout, Scalar, Type};
use adumbra_fuzz::Point;
use adumbra_fuzz::choices::next;
use adumbra_fuzz::generate::GlobalBits;

/// A variable that is drawn for a point: its name, its type, the range of its values.
pub(crate) type Variables = Vec<(String, Type, Domain)>;

/// A stream of numbers.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        (next(&mut self.0) >> 11) % bound
    }

    /// At least 0, less than 1.
    fn unit(&mut self) -> f32 {
        self.below(1 << 24) as f32 / (1 << 24) as f32
    }

    fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.unit()
    }

    /// A number of the domain: an end, 0, 1 or the one before, as often as any other if it is
    /// `edgy`.
    fn component(&mut self, low: f32, high: f32, last: f32, edgy: bool) -> f32 {
        let edges = [low, high, 0.0, 1.0, -1.0, last];
        match self.below(12) {
            i if edgy && i < edges.len() as u64 => edges[i as usize].clamp(low, high),
            _ => self.between(low, high),
        }
    }

    fn direction(&mut self, count: usize, edgy: bool) -> Vec<f32> {
        if edgy && self.below(2) == 0 {
            let mut axis = vec![0.0; count];
            axis[self.below(count as u64) as usize] = [1.0, -1.0][self.below(2) as usize];
            return axis;
        }
        loop {
            let v: Vec<f32> = (0..count).map(|_| self.between(-1.0, 1.0)).collect();
            let length = v.iter().map(|x| x * x).sum::<f32>().sqrt();
            if (0.1..1.0).contains(&length) {
                return v.iter().map(|x| x / length).collect();
            }
        }
    }

    fn value(&mut self, ty: &Type, domain: Domain, last: &mut f32, edgy: bool) -> Vec<u32> {
        let count = ty.scalar_count();
        match domain {
            Domain::Between(low, high) => (0..count)
                .map(|_| {
                    *last = self.component(low, high, *last, edgy);
                    last.to_bits()
                })
                .collect(),
            Domain::Unit => {
                let direction = self.direction(count, edgy);
                direction.iter().map(|x| x.to_bits()).collect()
            }
            Domain::Whole(low, high) => {
                let offset = self.below((high - low) as u64 + 1) as i32;
                vec![(low + offset) as u32]
            }
            Domain::Bits => vec![next(&mut self.0) as u32],
            Domain::Coin => vec![self.below(2) as u32],
        }
    }

    /// A point whose shadows are those that [`VARIABLES`](super::suite::VARIABLES) have.
    pub(crate) fn point(&mut self, variables: &Variables) -> Point {
        self.draw(variables, false, |_, count| {
            let numbers = || (1..=count).map(|i| i as f32);
            [
                numbers().map(|i| 0.3 * i).collect(),
                numbers().map(|i| -0.4 / i).collect(),
            ]
        })
    }

    /// A point whose shadows are drawn too; an `edgy` one has ends of domains, zeros and equal
    /// values in it.
    pub(crate) fn moving_point(&mut self, variables: &Variables, edgy: bool) -> Point {
        self.draw(variables, edgy, |random, count| {
            let mut shadow = || (0..count).map(|_| random.between(-1.0, 1.0)).collect();
            [shadow(), shadow()]
        })
    }

    fn draw(
        &mut self,
        variables: &Variables,
        edgy: bool,
        shadows: impl Fn(&mut Random, usize) -> [Vec<f32>; 2],
    ) -> Point {
        let mut last = 0.0;
        let mut point = Point::new();
        for (_, ty, domain) in variables {
            let value = self.value(ty, *domain, &mut last, edgy);
            let moves = !matches!(ty, Type::Scalar(Scalar::I32 | Scalar::U32 | Scalar::Bool));
            let [ddx, ddy] = shadows(self, value.len())
                .map(|shadow| shadow.iter().map(|x| x.to_bits()).collect::<Vec<u32>>())
                .map(|bits| if moves { bits } else { vec![0; bits.len()] });
            point.push(GlobalBits { value, ddx, ddy });
        }
        point
    }
}

/// Globals of these names and types.
pub(crate) fn layout(variables: &Variables) -> GlobalsLayout {
    let layout = GlobalsLayout::new();
    let added = variables.iter().try_fold(layout, |layout, (name, ty, _)| {
        layout.with(name, ty.clone())
    });
    added.expect("different names of types that globals can have")
}

/// Fills the globals with a point of their layout.
pub(crate) fn fill(globals: &mut Globals, point: &Point) {
    let words = point
        .iter()
        .flat_map(|at| at.value.iter().chain(&at.ddx).chain(&at.ddy));
    let slots = globals.words_mut().iter_mut();
    slots.zip(words).for_each(|(slot, word)| *slot = *word);
}
