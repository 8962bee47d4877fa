import ArgumentParser
@main struct GrandstandTool: ParsableCommand { func run() {} }
