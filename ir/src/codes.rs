//! The registry of diagnostic codes. Every code is in this list once; a number is never reused.
//!
//! Ranges: 01xx source and grammar · 02xx names and declarations · 03xx types · 04xx statements and
//! flow · 05xx derivatives, textures, closures, host interface · 06xx limits · 07xx IR text and
//! bytecode files · 08xx run-time faults. `E` codes are errors, `W` codes warnings.

use std::fmt;

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The program compiles, perhaps not as intended.
    Warning,
    /// There is no program.
    Error,
}

macro_rules! codes {
    ($($name:ident = $number:literal $severity:ident $title:literal;)*) => {
        /// The kind of a diagnostic.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u16)]
        pub enum Code {
            $(#[doc = $title] $name = $number,)*
        }

        impl Code {
            /// Every code, in order of number.
            pub const ALL: &[Code] = &[$(Code::$name,)*];

            /// Whether it is an error or a warning.
            pub const fn severity(self) -> Severity {
                match self { $(Code::$name => Severity::$severity,)* }
            }

            /// The title of this kind of diagnostic, in a few words.
            pub const fn title(self) -> &'static str {
                match self { $(Code::$name => $title,)* }
            }
        }
    };
}

codes! {
    UnknownCharacter = 101 Error "a character that the language does not have";
    UnterminatedComment = 102 Error "a comment without its end";
    BadNumber = 103 Error "a number that cannot be read";
    SyntaxError = 104 Error "something else was expected here";
    MissingSemicolon = 105 Error "a missing semicolon";
    UnbalancedBracket = 106 Error "a bracket without its partner";
    ChainedComparison = 107 Error "a chained comparison";
    BadString = 108 Error "a string that cannot be read";
    NoPreprocessor = 109 Error "a preprocessor directive";
    NotUtf8 = 110 Error "a file that is not UTF-8";
    BadInclude = 111 Error "an include that names no file, or is where none can be";
    IncludeNotFound = 112 Error "an included source that cannot be loaded";
    IncludeCycle = 113 Error "sources that include each other in a cycle";
    TooManyIncludes = 114 Error "too many included sources";
    TextureNotFound = 115 Error "a texture's file that cannot be read";
    UnknownName = 201 Error "a name that nothing declares";
    UnknownFunction = 202 Error "a function that nothing declares";
    UnknownType = 203 Error "a type that nothing declares";
    UnknownMember = 204 Error "a member or component that is not there";
    UnknownGlobal = 205 Error "a global that the host does not have";
    UnknownTexture = 206 Error "a texture that nothing declares";
    UnknownShader = 207 Error "a shader that nothing declares";
    ShaderChoice = 208 Error "several shaders, of which one must be chosen";
    Redeclared = 210 Error "a name declared twice in one scope";
    NeverDefined = 211 Error "a function declared but never defined";
    RecursiveStruct = 212 Error "a struct that contains itself";
    NotAValue = 213 Error "a name that has no value";
    NotConstant = 214 Error "something that must be a constant";
    BadVariableType = 215 Error "a type that no variable can have";
    UnsupportedType = 216 Error "a type that the language does not have";
    ConstantCycle = 217 Error "a constant that depends on itself";
    TextAsValue = 221 Error "a string where a value is expected";
    TypeMismatch = 301 Error "a value of the wrong type";
    BadOperand = 302 Error "an operator that these types do not have";
    BadCondition = 303 Error "a condition that is neither true nor false";
    ArgumentCount = 304 Error "too few or too many arguments";
    NoOverload = 305 Error "a call that fits no function of that name";
    AmbiguousOverload = 306 Error "a call that fits several functions equally well";
    NotAPlace = 307 Error "something that cannot be written to";
    WriteToConst = 308 Error "a constant that is written to";
    OutArgument = 309 Error "an argument that the function writes to, but that is not a place";
    BoolArithmetic = 310 Error "arithmetic with a bool";
    BadConstructor = 311 Error "values that make no such type";
    BadCast = 312 Error "a cast that is not possible";
    BadIndex = 313 Error "an index that is not possible";
    BadInitializer = 314 Error "a list that does not fit what it initialises";
    BadArraySize = 315 Error "a length that no array can have";
    MatrixProduct = 316 Error "a product of matrices that is written with `*`";
    RunTimeLength = 317 Error "a length that is only known while shading, where it must be constant";
    RunTimeArray = 318 Error "an array sized while shading that is used as a whole";
    MissingReturn = 401 Error "a path without return";
    BreakOutsideLoop = 402 Error "break or continue outside a loop";
    BadReturn = 403 Error "a return that does not fit its function";
    BadSwitch = 404 Error "a switch over something that is neither int nor uint";
    DuplicateLabel = 405 Error "a label that occurs twice in a switch";
    BadMessage = 406 Error "a message whose format and arguments do not fit";
    UnreadVariable = 411 Warning "a variable or parameter that is never read";
    ZeroDivisor = 412 Warning "a division by a constant zero";
    LostRemainder = 413 Warning "a division of integers that loses a remainder";
    AssignedCondition = 414 Warning "an assignment as a condition";
    ConstantIndex = 415 Warning "a constant index out of range";
    EndlessRecursion = 416 Warning "a function that calls itself on every path";
    NoOutput = 417 Warning "a shader that gives nothing, or an input written as an output";
    BadDerivative = 501 Error "a derivative of something that has none";
    ClosureArithmetic = 502 Error "closures can only be added and scaled";
    BadShaderParameter = 503 Error "a parameter that a shader cannot have";
    BadClosureArgument = 504 Error "an argument that a closure cannot have";
    BadMetadata = 505 Error "metadata where there is none, or with a value that it cannot have";
    DerivativeOfTexture = 511 Warning "a derivative of a texture's result, which is 0";
    SecondDerivative = 512 Warning "a derivative of a derivative, which is 0";
    FlatDerivative = 513 Warning "a derivative that is always 0";
    UnsetShadow = 514 Warning "a derivative of a global, which the host never sets";
    RoundedGradient = 515 Warning "a gradient that ends in an integer";
    ReplacedGradient = 516 Warning "a gradient that another one replaces";
    MisspeltMetadata = 517 Warning "metadata of a texture that is nearly called like one with a meaning";
    EndedGradient = 518 Warning "a gradient of a shader that ends on the way";
    VaryingEquality = 519 Warning "an equality of floats that vary, which edges do not count";
    UnmovedAxis = 520 Warning "an axis along which nothing of a shader moves";
    DivergentDerivative = 521 Error "a derivative from neighbours that may have diverged";
    EmptyGroup = 531 Error "a group from which nothing comes";
    UnitName = 532 Error "a name that a unit cannot have";
    UnknownUnit = 533 Error "a unit that the group does not have";
    UnknownPort = 534 Error "an input or output that a unit does not have";
    PortMismatch = 535 Error "a value that an input cannot take";
    FedTwice = 536 Error "something in a group that is given twice";
    UnitCycle = 537 Error "units that feed each other in a cycle";
    ExposedTwice = 538 Error "a name that a group exposes twice";
    GroupFile = 539 Error "a group file that cannot be read";
    UnitSource = 540 Error "a unit whose source cannot be read";
    UnknownClosure = 541 Error "a closure that the host does not know";
    GroupTooLarge = 543 Error "a group with too much in it";
    HostStruct = 544 Error "a struct of the host that is not the globals";
    NotDifferentiable = 551 Error "a derivative of a function that is not marked as differentiable";
    LostGradient = 552 Error "a call that would lose a gradient";
    LostInSample = 553 Error "a texture sample or closure that would lose a gradient";
    RuleSignature = 554 Error "a custom derivative with another signature";
    SecondRule = 555 Error "two custom derivatives of one function and mode";
    RuleCycle = 556 Error "a custom derivative that leads back to its function";
    NoDifferential = 557 Error "a type without a differential";
    PlainStructGradient = 558 Error "a gradient that would be lost in a plain struct";
    MissingDerivativeRule = 559 Error "a mode of differentiation without its custom derivative";
    NonlinearRule = 560 Error "a forward derivative that cannot be transposed";
    UnknownAttribute = 561 Error "an attribute that the language does not have";
    MisplacedAttribute = 562 Error "an attribute where it means nothing";
    NotDerivable = 563 Error "a derivative of something other than a function, or not called";
    ShadowInBackward = 564 Error "a backward derivative through a screen-space derivative";
    NotUnrolled = 566 Error "a loop that is to be unrolled, and cannot be";
    BadDifferential = 567 Error "a written differential that derivatives cannot use";
    NoSuchGradient = 570 Error "a gradient that a program does not have";
    NoPairGradient = 571 Error "a shader that cannot be differentiated by pairs of samples";
    NoSeparateLeaves = 572 Error "a closure whose leaves are not known before it is shaded";
    NoSuchBlock = 574 Error "a block to be left out that a source does not have";
    BadField = 576 Error "a function through which no ray can march";
    FieldEffect = 577 Error "a field that does more than give a distance";
    FieldCycle = 578 Error "a field that marches through itself";
    SourceTooLong = 601 Error "a source that is too long";
    NestingTooDeep = 602 Error "too deeply nested";
    TooManyErrors = 603 Error "more errors than are shown";
    TypeTooLarge = 604 Error "a type with too many parts";
    TooManyElements = 605 Error "too many array elements";
    TooManyOverloads = 606 Error "too many functions of one name";
    DerivativeOrder = 607 Error "a derivative of too high an order";
    ProgramTooLarge = 611 Error "a program that needs too much memory";
    DerivedCodeTooLarge = 612 Error "derived code that is too large";
    IrSyntax = 701 Error "IR text that cannot be read";
    IrUnknownName = 702 Error "an unknown name in IR text";
    IrDuplicate = 703 Error "something defined twice in IR text";
    IrTooLarge = 704 Error "IR text beyond a limit";
    NotBytecode = 711 Error "a file that is not bytecode";
    BytecodeVersion = 712 Error "a bytecode file of another version";
    BytecodeDamaged = 713 Error "a damaged bytecode file";
    BytecodeInvalid = 714 Error "an invalid bytecode file";
    IndexOutOfRange = 801 Warning "an index out of range, clamped";
    DivisionByZero = 802 Warning "an integer division by zero, which gives 0";
    NegativeArraySize = 803 Warning "a negative array size, taken as 0";
    TooManyIterations = 804 Warning "more iterations than `[MaxIters]` says";
    NoSlopes = 805 Warning "a texture whose host gives no slopes";
    SumNotFinite = 806 Warning "a contribution to a gradient that is not finite";
    StepBudget = 811 Error "too many steps: the point was stopped";
    CallDepth = 812 Error "calls too deep: the point was stopped";
    ArraySize = 813 Error "too many array elements: the point was stopped";
    ClosureSize = 814 Error "too many closures: the point was stopped";
    UnreachableReached = 815 Error "unreachable code was reached: the point was stopped";
    Cancelled = 816 Error "the evaluation was cancelled: the point was stopped";
    KeptWords = 817 Error "too many kept values: the point was stopped";
    NothingKept = 818 Error "a kept value that is not there: the point was stopped";
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = match self.severity() {
            Severity::Error => 'E',
            Severity::Warning => 'W',
        };
        write!(f, "{letter}{:04}", *self as u16)
    }
}

#[cfg(test)]
mod tests {
    use super::Code;

    #[test]
    fn codes_are_in_order_and_print_with_their_letter() {
        assert!(Code::ALL.windows(2).all(|w| (w[0] as u16) < (w[1] as u16)));
        assert_eq!(Code::UnknownCharacter.to_string(), "E0101");
    }
}
