/// A port got a call that the test does not expect. The router then answers 500, so a test of a refusal shows that no
/// port was called before the refusal.
///
/// Each fake port is a value. A test sets a closure for each call that it expects. All other calls throw `Unasked`.
package struct Unasked: Error {
    package init() {}
}
