//! Prints the syntax tree: one line a statement, expressions in prefix form, `(+ a (* b 2.0))`.
//!
//! Recursion is bounded by the height of the tree.

use super::{
    AstFile, Attribute, BlockStmt, Declaration, Declarator, Dimension, Expr, ExprKind, ForInit,
    FunctionDef, Initializer, InitializerKind, Item, ItemKind, MetadataItem, ParamDecl,
    ParamDirection, RAYMARCH, Stmt, StmtKind, TypeExpr, TypeName,
};
use crate::interner::{Interner, Symbol};

/// Prints the tree of a file, with a line break at the end. `interner` is the one it was parsed
/// with.
pub fn print(file: &AstFile, interner: &Interner) -> String {
    let mut printer = Printer::new(interner);
    file.items.iter().for_each(|item| printer.item(item));
    printer.out
}

/// Prints one expression, without a line break.
pub fn print_expression(expr: &Expr, interner: &Interner) -> String {
    let mut printer = Printer::new(interner);
    printer.expr(expr);
    printer.out
}

struct Printer<'i> {
    interner: &'i Interner,
    out: String,
    indent: usize,
}

impl<'i> Printer<'i> {
    fn new(interner: &'i Interner) -> Printer<'i> {
        Printer {
            interner,
            out: String::new(),
            indent: 0,
        }
    }

    fn put(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn symbol(&mut self, symbol: Symbol) {
        self.out.push_str(self.interner.name(symbol));
    }

    fn start_line(&mut self) {
        for _ in 0..self.indent {
            self.out.push_str("  ");
        }
    }

    fn item(&mut self, item: &Item) {
        if !matches!(item.kind, ItemKind::Function(_)) {
            self.attributes(item.attributes);
        }
        match item.kind {
            ItemKind::Function(function) => {
                self.function(function);
                self.put("\n");
            }
            ItemKind::Struct(structure) => {
                self.put("(struct ");
                self.symbol(structure.name.symbol);
                for interface in structure.interfaces {
                    self.put(" : ");
                    self.symbol(interface.symbol);
                }
                self.indent += 1;
                for member in structure.members {
                    self.put("\n");
                    self.start_line();
                    self.declaration(member);
                }
                for alias in structure.aliases {
                    self.put("\n");
                    self.start_line();
                    self.put("(typealias ");
                    self.symbol(alias.name.symbol);
                    self.put(" ");
                    self.ty(&alias.ty);
                    self.dimensions(alias.dimensions);
                    self.put(")");
                }
                for method in structure.methods {
                    self.put("\n");
                    self.start_line();
                    self.function(method);
                }
                self.indent -= 1;
                self.put(")\n");
            }
            ItemKind::TypeAlias(alias) => {
                self.put("(typedef ");
                self.ty(&alias.ty);
                self.put(" ");
                self.symbol(alias.name.symbol);
                self.dimensions(alias.dimensions);
                self.put(")\n");
            }
            ItemKind::Declaration(declaration) => {
                self.declaration(declaration);
                self.put("\n");
            }
            ItemKind::Broken(names) => {
                self.put("(broken");
                for name in names {
                    self.put(" ");
                    self.symbol(name.symbol);
                }
                self.put(")\n");
            }
        }
    }

    /// Each on a line of its own.
    fn attributes(&mut self, attributes: &[Attribute]) {
        for attribute in attributes {
            self.call(
                &format!("attribute {}", self.interner.name(attribute.name.symbol)),
                attribute.arguments,
            );
            self.put("\n");
            self.start_line();
        }
    }

    fn function(&mut self, function: &FunctionDef) {
        self.attributes(function.attributes);
        match function.result {
            Some(result) => {
                self.put("(function ");
                if function.is_no_diff {
                    self.put("no_diff ");
                }
                self.ty(&result);
                self.put(" ");
            }
            None => self.put("(shader "),
        }
        self.symbol(function.name.symbol);
        self.put(" (");
        self.separated(function.parameters, Self::parameter);
        self.put(")");
        match &function.body {
            None => self.put(" prototype"),
            Some(body) => self.body(body),
        }
        self.put(")");
    }

    fn parameter(&mut self, parameter: &ParamDecl) {
        self.put(match parameter.direction {
            ParamDirection::In => "(in ",
            ParamDirection::Out => "(out ",
            ParamDirection::InOut => "(inout ",
        });
        if parameter.is_const {
            self.put("const ");
        }
        if parameter.is_no_diff {
            self.put("no_diff ");
        }
        self.ty(&parameter.ty);
        self.put(" ");
        self.declarator(&parameter.declarator);
        self.put(")");
    }

    fn metadata(&mut self, metadata: &MetadataItem) {
        self.symbol(metadata.name.symbol);
        if let Some(value) = metadata.value {
            self.put(" = ");
            self.expr(value);
        }
    }

    fn ty(&mut self, ty: &TypeExpr) {
        match ty.name {
            TypeName::Keyword(keyword) => self.put(keyword.as_str()),
            TypeName::Named(symbol) => self.symbol(symbol),
            TypeName::Struct(symbol) => {
                self.put("struct ");
                self.symbol(symbol);
            }
        }
        if !ty.arguments.is_empty() {
            self.put("<");
            self.separated(ty.arguments, Self::ty);
            self.put(">");
        }
        for member in ty.path {
            self.put(".");
            self.symbol(member.symbol);
        }
        self.dimensions(ty.dimensions);
    }

    fn dimensions(&mut self, dimensions: &[Dimension]) {
        for dimension in dimensions {
            self.put("[");
            if let Some(size) = dimension.size {
                self.expr(size);
            }
            self.put("]");
        }
    }

    fn declaration(&mut self, declaration: &Declaration) {
        self.put(if declaration.is_const {
            "(const "
        } else {
            "(declare "
        });
        if declaration.is_no_diff {
            self.put("no_diff ");
        }
        self.ty(&declaration.ty);
        for declarator in declaration.declarators {
            self.put(" ");
            self.declarator(declarator);
        }
        self.put(")");
    }

    fn declarator(&mut self, declarator: &Declarator) {
        self.symbol(declarator.name.symbol);
        self.dimensions(declarator.dimensions);
        if let Some(init) = declarator.init {
            self.put(" = ");
            self.initializer(init);
        }
        if !declarator.metadata.is_empty() {
            self.put(" <<<");
            self.separated(declarator.metadata, Self::metadata);
            self.put(">>>");
        }
    }

    fn initializer(&mut self, init: &Initializer) {
        match init.kind {
            InitializerKind::Expr(expr) => self.expr(expr),
            InitializerKind::List(list) => {
                self.put("{");
                self.separated(list, Self::initializer);
                self.put("}");
            }
        }
    }

    /// A block's statements, each on a line of its own, indented by one level.
    fn body(&mut self, block: &BlockStmt) {
        block.statements.iter().for_each(|s| self.nested(s));
    }

    fn nested(&mut self, statement: &Stmt) {
        self.indent += 1;
        self.put("\n");
        self.start_line();
        self.statement(statement);
        self.indent -= 1;
    }

    fn statement(&mut self, statement: &Stmt) {
        self.attributes(statement.attributes);
        match statement.kind {
            StmtKind::Declaration(declaration) => self.declaration(declaration),
            StmtKind::Expr(expr) => self.expr(expr),
            StmtKind::Block(block) => {
                self.put("(block");
                self.body(&block);
                self.put(")");
            }
            StmtKind::If { arms, otherwise } => {
                for (index, arm) in arms.iter().enumerate() {
                    self.put(if index > 0 { " else-if " } else { "(if " });
                    self.expr(arm.condition);
                    self.nested(arm.body);
                }
                otherwise.into_iter().for_each(|s| self.nested(s));
                self.put(")");
            }
            StmtKind::For(parts) => {
                self.put("(for (");
                match parts.init {
                    ForInit::Declaration(declaration) => self.declaration(declaration),
                    ForInit::Exprs(exprs) => self.separated(exprs, |p, e| p.expr(e)),
                }
                for exprs in [parts.conditions, parts.updates] {
                    self.put("; ");
                    self.separated(exprs, |p, e| p.expr(e));
                }
                self.put(")");
                self.nested(parts.body);
                self.put(")");
            }
            StmtKind::While { condition, body } => {
                self.put("(while ");
                self.expr(condition);
                self.nested(body);
                self.put(")");
            }
            StmtKind::DoWhile { body, condition } => {
                self.put("(do-while ");
                self.expr(condition);
                self.nested(body);
                self.put(")");
            }
            StmtKind::Switch { value, cases } => {
                self.put("(switch ");
                self.expr(value);
                self.indent += 1;
                for case in cases {
                    self.put("\n");
                    self.start_line();
                    match case.label {
                        Some(label) => {
                            self.put("(case ");
                            self.expr(label);
                        }
                        None => self.put("(default"),
                    }
                    case.statements.iter().for_each(|s| self.nested(s));
                    self.put(")");
                }
                self.indent -= 1;
                self.put(")");
            }
            StmtKind::Break => self.put("(break)"),
            StmtKind::Continue => self.put("(continue)"),
            StmtKind::Return(None) => self.put("(return)"),
            StmtKind::Return(Some(expr)) => self.call("return", &[expr]),
            StmtKind::Empty => self.put("(empty)"),
            StmtKind::Broken(_) => self.put("(broken)"),
        }
    }

    fn separated<T>(&mut self, list: &[T], mut print: impl FnMut(&mut Self, &T)) {
        for (index, item) in list.iter().enumerate() {
            if index > 0 {
                self.put(" ");
            }
            print(self, item);
        }
    }

    /// `(head a b)`
    fn call(&mut self, head: &str, operands: &[&Expr]) {
        self.put("(");
        self.put(head);
        for operand in operands {
            self.put(" ");
            self.expr(operand);
        }
        self.put(")");
    }

    /// `(- (+ a b) c)`, in a loop along the left operands.
    fn chain(&mut self, last: &Expr) {
        let (mut left, mut operands) = (last, Vec::new());
        while let ExprKind::Binary(op, a, b) = left.kind {
            self.put("(");
            self.put(op.as_str());
            self.put(" ");
            operands.push(b);
            left = a;
        }
        self.expr(left);
        for operand in operands.into_iter().rev() {
            self.put(" ");
            self.expr(operand);
            self.put(")");
        }
    }

    fn expr(&mut self, expr: &Expr) {
        let interner = self.interner;
        match expr.kind {
            ExprKind::Float(value) => self.put(&format!("{value:?}")),
            ExprKind::Int(value) => self.put(&format!("{value}")),
            ExprKind::Uint(value) => self.put(&format!("{value}u")),
            ExprKind::Bool(value) => self.put(&format!("{value}")),
            ExprKind::String(symbol) => self.put(&format!("{:?}", interner.name(symbol))),
            ExprKind::Name(symbol) => self.symbol(symbol),
            ExprKind::Unary(op, a) => self.call(op.as_str(), &[a]),
            ExprKind::Binary(..) => self.chain(expr),
            ExprKind::Assign { op, place, value } => {
                let op = op.map_or("", |op| op.as_str());
                self.call(&format!("{op}="), &[place, value]);
            }
            ExprKind::IncDec {
                step,
                postfix,
                place,
            } => {
                let when = if postfix { "post" } else { "pre" };
                self.call(&format!("{when}{}", step.as_str()), &[place]);
            }
            ExprKind::Ternary { condition, yes, no } => self.call("?:", &[condition, yes, no]),
            ExprKind::Cast(ty, a) => self.call(&format!("cast {}", ty.as_str()), &[a]),
            ExprKind::Construct(ty, list) => self.call(ty.as_str(), list),
            ExprKind::Call(name, list) => self.call(interner.name(name.symbol), list),
            ExprKind::Apply(callee, list) => {
                self.put("(apply ");
                self.expr(callee);
                for argument in list {
                    self.put(" ");
                    self.expr(argument);
                }
                self.put(")");
            }
            ExprKind::ConstructType(ty, list) => {
                self.put("(");
                self.ty(ty);
                for argument in list {
                    self.put(" ");
                    self.expr(argument);
                }
                self.put(")");
            }
            ExprKind::List(list) => self.initializer(list),
            ExprKind::NoDiff(a) => self.call("no_diff", &[a]),
            ExprKind::Index(a, b) => self.call("[]", &[a, b]),
            ExprKind::Member(a, name) => {
                self.call(&format!(".{}", interner.name(name.symbol)), &[a]);
            }
            ExprKind::GlobalValue(name) => {
                self.put(&format!("global_value<{}>", interner.name(name.symbol)));
            }
            ExprKind::Raymarch(field, list) => {
                let head = format!("{RAYMARCH}<{}>", interner.name(field.symbol));
                self.call(&head, list);
            }
            ExprKind::MakeClosure(name, list) => {
                let head = format!("make_closure<{}>", interner.name(name.symbol));
                self.call(&head, list);
            }
            ExprKind::TextureSample(sample, name, list) => {
                let head = format!("{}<{}>", sample.keyword(), interner.name(name.symbol));
                self.call(&head, list);
            }
            ExprKind::Broken => self.put("(broken)"),
        }
    }
}
