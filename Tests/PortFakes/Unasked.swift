/// A port was asked for what its test does not expect. The router answers 500 then, so a test of a refusal shows that
/// nothing was asked before it.
///
/// Each port is a value here: what a test expects to be asked is a function of its own, all else is `Unasked`.
package struct Unasked: Error {
    package init() {}
}
