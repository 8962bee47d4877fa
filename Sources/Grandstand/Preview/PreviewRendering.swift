extension PreviewTemplate {
    /// The template filled with a content, without white space around it; cut, with an ellipsis, where a bound is reached.
    ///
    /// - Parameter maximumBytes: of what it comes to, in UTF-8.
    package func text(of content: JSONValue, maximumBytes: Int = 1_000) -> String {
        var rendering = PreviewRendering(content, maximumBytes: maximumBytes)
        rendering.append(nodes)
        return rendering.finished
    }
}

/// The filling of one template. Sections within sections multiply, so the work is counted as well as the text.
struct PreviewRendering {
    private var context: [JSONValue]
    private var output = ""
    private var bytesLeft: Int
    /// A name that is looked up costs one for each member that is looked at.
    private var stepsLeft = 50_000
    private var isCut = false

    init(_ content: JSONValue, maximumBytes: Int) {
        context = [content]
        bytesLeft = maximumBytes
    }

    var finished: String {
        let scalars = output.unicodeScalars.drop { $0.properties.isWhitespace }
        var text = ""
        text.unicodeScalars.append(contentsOf: scalars)
        while text.unicodeScalars.last?.properties.isWhitespace == true { text.unicodeScalars.removeLast() }
        return isCut ? text + "…" : text
    }

    mutating func append(_ nodes: [PreviewTemplate.Node]) {
        for node in nodes {
            stepsLeft -= 1
            guard stepsLeft > 0, !isCut else {
                isCut = true
                return
            }
            switch node {
            case .text(let text): append(text)
            case .value(let path): if let value = find(path) { append(value) }
            case .section(let path, let isInverted, let inner): append(section: find(path), isInverted, inner)
            }
        }
    }

    private mutating func append(section value: JSONValue?, _ isInverted: Bool, _ nodes: [PreviewTemplate.Node]) {
        switch (value?.kind, isInverted) {
        case (nil, true), (.null?, true), (.bool(false)?, true): append(nodes)
        case (nil, false), (.null?, false), (.bool(false)?, false): return
        case (.array(let elements)?, true): if elements.isEmpty { append(nodes) }
        case (.string(let text)?, true): if text.isEmpty { append(nodes) }
        case (_?, true): return
        case (.string("")?, false): return
        case (.array(let elements)?, false): for element in elements { append(nodes, within: element) }
        case (_?, false): if let value { append(nodes, within: value) }
        }
    }

    private mutating func append(_ nodes: [PreviewTemplate.Node], within value: JSONValue) {
        stepsLeft -= 1
        guard stepsLeft > 0, !isCut else {
            isCut = true
            return
        }
        context.append(value)
        append(nodes)
        context.removeLast()
    }

    /// The first part is looked for from the inside out, the others in what was found.
    private mutating func find(_ path: PreviewTemplate.Path) -> JSONValue? {
        guard let first = path.first else { return context.last }
        var found: JSONValue?
        for value in context.reversed() {
            found = member(first, of: value)
            if found != nil || stepsLeft <= 0 { break }
        }
        for name in path.dropFirst() { found = found.flatMap { member(name, of: $0) } }
        return found
    }

    private mutating func member(_ name: String, of value: JSONValue) -> JSONValue? {
        guard case .object(let members) = value.kind else { return nil }
        stepsLeft -= members.count
        guard stepsLeft > 0 else { return nil }
        return members.first { $0.name == name }?.value
    }

    private mutating func append(_ value: JSONValue) {
        switch value.kind {
        case .null: return
        case .bool(let flag): append(flag ? "true" : "false")
        case .number(let text), .string(let text): append(text)
        // No template says how to show these: as they were written, as far as there is room.
        case .array, .object: append(String(decoding: value.source.prefix(bytesLeft + 4), as: UTF8.self))
        }
    }

    private mutating func append(_ text: String) {
        guard text.utf8.count > bytesLeft else {
            output += text
            bytesLeft -= text.utf8.count
            return
        }
        for scalar in text.unicodeScalars {
            let size = String(scalar).utf8.count
            guard size <= bytesLeft else { break }
            output.unicodeScalars.append(scalar)
            bytesLeft -= size
        }
        bytesLeft = 0
        isCut = true
    }
}
