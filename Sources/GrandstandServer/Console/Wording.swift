/// Formats numbers and lists for people.
enum Wording {
    /// `10,000`
    static func number(_ value: Int) -> String {
        var text = ""
        for (place, digit) in String(value.magnitude).reversed().enumerated() {
            if place > 0, place.isMultiple(of: 3) { text.append(",") }
            text.append(digit)
        }
        return (value < 0 ? "-" : "") + String(text.reversed())
    }

    /// The name of a member as people read it: `failingSince` is `Failing since`, `teamId` is `Team ID`.
    static func label(_ name: String) -> String {
        var words: [String] = []
        for character in name {
            if words.isEmpty || character.isUppercase { words.append("") }
            words[words.count - 1].append(character)
        }
        let known = ["id": "ID", "ids": "IDs", "url": "URL"]
        let text = words.map { known[$0.lowercased()] ?? $0.lowercased() }.joined(separator: " ")
        return text.prefix(1).uppercased() + text.dropFirst()
    }

    /// `1 channel`, `2,000 channels`
    static func count(_ value: Int, _ singular: String, _ plural: String? = nil) -> String {
        "\(number(value)) \(value == 1 ? singular : plural ?? singular + "s")"
    }

    /// Counts equal words, as in `2 active, 1 failed`, in the order in which the words first occur.
    static func tally(_ words: [String]) -> String {
        var order: [String] = []
        var counts: [String: Int] = [:]
        for word in words {
            if counts[word] == nil { order.append(word) }
            counts[word, default: 0] += 1
        }
        return order.map { "\(number(counts[$0, default: 0])) \($0)" }.joined(separator: ", ")
    }

    /// `com.example.Stadium, production, de`, without the values that are `nil`.
    static func list(_ words: String?...) -> String { words.compactMap(\.self).joined(separator: ", ") }

    /// An event's key, with the variant if there is one.
    static func event(_ key: String, _ variant: String) -> String { variant.isEmpty ? key : "\(key) (\(variant))" }
}
