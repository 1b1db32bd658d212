//! Topological order of the declarations of files.
//!
//! A constant may be used before its declaration. So the dependencies of an item come before it:
//! the constants in its values and lengths, and its structs, for the lengths in those. Constants in
//! a cycle keep some order; checking the first of them meets one that is not declared yet.

use crate::ast::{
    AstFile, Declaration, Declarator, Dimension, Expr, ExprKind, Initializer, InitializerKind,
    Item, ItemKind, TypeExpr, TypeName,
};
use crate::interner::Symbol;
use std::collections::HashMap;

/// Something to declare.
#[derive(Clone, Copy, Debug)]
pub(super) enum PendingDeclaration<'a> {
    /// A name at file level: a constant, texture or resource.
    Name(&'a Declaration<'a>, &'a Declarator<'a>),
    /// A struct, function or shader.
    Item(&'a Item<'a>),
}

/// The steps that declare the items of the files: in the order of the source, but each after its
/// dependencies.
pub(super) fn topological_order<'a>(files: &[AstFile<'a>]) -> Vec<PendingDeclaration<'a>> {
    let mut steps = Vec::new();
    for item in files.iter().flat_map(|file| file.items) {
        match item.kind {
            ItemKind::Declaration(declaration) => {
                let declarators = declaration.declarators.iter();
                steps.extend(
                    declarators.map(|declarator| PendingDeclaration::Name(declaration, declarator)),
                );
            }
            _ => steps.push(PendingDeclaration::Item(item)),
        }
    }
    let graph = Graph::of(&steps);
    let mut taken = vec![false; steps.len()];
    let mut order = Vec::with_capacity(steps.len());
    let mut open = Vec::new();
    for root in 0..steps.len() {
        if !std::mem::replace(&mut taken[root], true) {
            open.push((root, graph.needs(root)));
        }
        while let Some((at, needs)) = open.last_mut() {
            match needs.split_first() {
                Some((&next, rest)) => {
                    *needs = rest;
                    if !std::mem::replace(&mut taken[next], true) {
                        open.push((next, graph.needs(next)));
                    }
                }
                None => {
                    order.push(steps[*at]);
                    open.pop();
                }
            }
        }
    }
    order
}

/// The dependencies of each step.
#[derive(Default)]
struct Graph {
    constants: HashMap<Symbol, usize>,
    structs: HashMap<Symbol, usize>,
    /// The dependencies of all steps, concatenated.
    needs: Vec<usize>,
    /// The end of each step's dependencies.
    ends: Vec<usize>,
}

impl Graph {
    fn of(steps: &[PendingDeclaration<'_>]) -> Graph {
        let mut graph = Graph::default();
        for (at, step) in steps.iter().enumerate() {
            let (names, symbol) = match step {
                PendingDeclaration::Name(_, declarator) => {
                    (&mut graph.constants, declarator.name.symbol)
                }
                PendingDeclaration::Item(Item {
                    kind: ItemKind::Struct(structure),
                    ..
                }) => (&mut graph.structs, structure.name.symbol),
                PendingDeclaration::Item(Item {
                    kind: ItemKind::TypeAlias(alias),
                    ..
                }) => (&mut graph.structs, alias.name.symbol),
                PendingDeclaration::Item(_) => continue,
            };
            // A second declaration of the name is refused.
            names.entry(symbol).or_insert(at);
        }
        for step in steps {
            graph.step(step);
            graph.ends.push(graph.needs.len());
        }
        graph
    }

    fn needs(&self, step: usize) -> &[usize] {
        let start = step.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.needs[start..self.ends[step]]
    }

    fn step(&mut self, step: &PendingDeclaration<'_>) {
        match step {
            PendingDeclaration::Name(declaration, declarator) => {
                self.ty(&declaration.ty);
                self.declarator(declarator);
            }
            PendingDeclaration::Item(item) => match item.kind {
                ItemKind::Struct(structure) => {
                    for member in structure.members {
                        self.ty(&member.ty);
                        member.declarators.iter().for_each(|d| self.declarator(d));
                    }
                    // Methods take their struct, which would be a cycle; their signatures come
                    // after all members, and only their constants are needed.
                    for method in structure.methods {
                        for parameter in method.parameters {
                            self.declarator(&parameter.declarator);
                        }
                    }
                }
                ItemKind::Function(function) => {
                    function.result.iter().for_each(|ty| self.ty(ty));
                    for parameter in function.parameters {
                        self.ty(&parameter.ty);
                        self.declarator(&parameter.declarator);
                    }
                }
                ItemKind::TypeAlias(alias) => {
                    self.ty(&alias.ty);
                    self.dimensions(alias.dimensions);
                }
                ItemKind::Declaration(_) | ItemKind::Broken(_) => {}
            },
        }
    }

    fn ty(&mut self, ty: &TypeExpr<'_>) {
        if let TypeName::Named(symbol) | TypeName::Struct(symbol) = ty.name {
            self.needs.extend(self.structs.get(&symbol));
        }
        ty.arguments.iter().for_each(|ty| self.ty(ty));
        self.dimensions(ty.dimensions);
    }

    fn dimensions(&mut self, dimensions: &[Dimension<'_>]) {
        let sizes = dimensions.iter().filter_map(|dimension| dimension.size);
        sizes.for_each(|size| self.expr(size));
    }

    fn declarator(&mut self, declarator: &Declarator<'_>) {
        self.dimensions(declarator.dimensions);
        let mut rest: Vec<&Initializer<'_>> = declarator.init.into_iter().collect();
        while let Some(init) = rest.pop() {
            match init.kind {
                InitializerKind::Expr(expr) => self.expr(expr),
                InitializerKind::List(list) => rest.extend(list),
            }
        }
    }

    fn expr(&mut self, expr: &Expr<'_>) {
        // Without recursion: a chain of operators is as high as it is long.
        let mut rest = vec![expr];
        while let Some(expr) = rest.pop() {
            match expr.kind {
                ExprKind::Name(symbol) => self.needs.extend(self.constants.get(&symbol)),
                ExprKind::Call(name, args) => {
                    self.needs.extend(self.structs.get(&name.symbol));
                    rest.extend(args);
                }
                ExprKind::Apply(callee, args) => {
                    rest.push(callee);
                    rest.extend(args);
                }
                ExprKind::ConstructType(ty, args) => {
                    self.ty(ty);
                    rest.extend(args);
                }
                ExprKind::List(list) => {
                    let mut lists = vec![list];
                    while let Some(list) = lists.pop() {
                        match list.kind {
                            InitializerKind::Expr(expr) => rest.push(expr),
                            InitializerKind::List(items) => lists.extend(items),
                        }
                    }
                }
                ExprKind::Construct(_, args)
                | ExprKind::Raymarch(_, args)
                | ExprKind::MakeClosure(_, args)
                | ExprKind::TextureSample(_, _, args) => rest.extend(args),
                ExprKind::Unary(_, a)
                | ExprKind::Cast(_, a)
                | ExprKind::Member(a, _)
                | ExprKind::NoDiff(a)
                | ExprKind::IncDec { place: a, .. } => rest.push(a),
                ExprKind::Binary(_, a, b)
                | ExprKind::Index(a, b)
                | ExprKind::Assign {
                    place: a, value: b, ..
                } => rest.extend([a, b]),
                ExprKind::Ternary { condition, yes, no } => rest.extend([condition, yes, no]),
                ExprKind::Float(_)
                | ExprKind::Int(_)
                | ExprKind::Uint(_)
                | ExprKind::Bool(_)
                | ExprKind::String(_)
                | ExprKind::GlobalValue(_)
                | ExprKind::Broken => {}
            }
        }
    }
}
