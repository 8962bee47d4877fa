package import JSON

/// A JSON number by its exact value: `1`, `1.0` and `10e-1` are the same, and no digit is lost to a double.
package struct JSONNumber: Sendable, Hashable {
    private let isNegative: Bool
    /// The digits without zeros at either end. Without digits the number is zero. The value is `0.digits` times ten to
    /// the power of `exponent`.
    private let digits: [UInt8]
    private let exponent: Int

    /// - Parameter text: a number as JSON writes it.
    package init(_ text: String) {
        var (digits, point, exponent): ([UInt8], Int?, String) = ([], nil, "")
        var isInExponent = false
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "e"), UInt8(ascii: "E"): isInExponent = true
            case _ where isInExponent: exponent.append(Character(Unicode.Scalar(byte)))
            case UInt8(ascii: "."): point = digits.count
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digits.append(byte - UInt8(ascii: "0"))
            default: break
            }
        }
        // An exponent that does not fit an Int is replaced by `far`, the largest exponent that is distinguished.
        let power = exponent.isEmpty ? 0 : Int(exponent) ?? (exponent.hasPrefix("-") ? -Self.far : Self.far)
        let places = point ?? digits.count
        let leading = digits.prefix { $0 == 0 }.count
        digits.removeFirst(leading)
        while digits.last == 0 { digits.removeLast() }
        self.digits = digits
        self.exponent = digits.isEmpty ? 0 : places - leading + max(-Self.far, min(Self.far, power))
        isNegative = !digits.isEmpty && text.hasPrefix("-")
    }

    private static let far = 1 << 40

    /// - Returns: `nil` for anything but a number.
    package init?(_ value: JSONValue?) {
        guard case .number(let text)? = value?.kind else { return nil }
        self.init(text)
    }
}

extension JSONNumber: Comparable {
    package static func < (left: Self, right: Self) -> Bool {
        if left.isNegative != right.isNegative { return left.isNegative }
        let isSmaller = left.isNegative ? isSmaller(right, left) : isSmaller(left, right)
        return isSmaller
    }

    /// Compares the magnitudes.
    private static func isSmaller(_ left: Self, _ right: Self) -> Bool {
        if left.digits.isEmpty || right.digits.isEmpty { return left.digits.isEmpty && !right.digits.isEmpty }
        if left.exponent != right.exponent { return left.exponent < right.exponent }
        return left.digits.lexicographicallyPrecedes(right.digits)
    }
}
