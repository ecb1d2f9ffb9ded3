//! Scripts of apps: TypeScript, JSX and module resolution.

use axum::http::Method;

use super::{AppSite, write};

/// The code without its source map.
async fn code(site: &AppSite, path: &str) -> String {
    let answer = site.get(path).await;
    assert_eq!(
        (answer.status.as_u16(), answer.header("content-type")),
        (200, "text/javascript; charset=utf-8"),
        "{path}"
    );
    answer
        .text()
        .split("//# sourceMappingURL=")
        .next()
        .unwrap()
        .to_owned()
}

#[tokio::test]
async fn typescript_is_served_without_its_types() {
    let source = "import type { A } from './a';\nimport { B, run } from './b.ts';\nenum Colour { Red, Green }\n\
                  export const x: number = <number>(1 as any);\nfunction f<T>(this: Window, a?: T): a is T { return run!(a satisfies T, Colour.Red) }\n\
                  let b: B; export default f;";
    let site = AppSite::new(&[
        ("app.ts", source),
        ("b.ts", "export const run = 1; export type B = string"),
    ]);
    let code = code(&site, "/app.ts").await;
    for gone in [
        "number",
        "satisfies",
        "type ",
        "as any",
        "is T",
        "B,",
        "./a",
    ] {
        assert!(!code.contains(gone), "{gone}: {code}");
    }
    assert!(
        code.contains("import { run } from \"./b.ts\"") && code.contains("export default f"),
        "{code}"
    );
    let whole = site.get("/app.ts").await;
    assert!(
        whole
            .text()
            .contains("//# sourceMappingURL=data:application/json")
    );
    let tag = whole.header("etag").to_owned();
    let again = site
        .ask(Method::GET, "/app.ts", &[("if-none-match", &tag)], None)
        .await;
    assert_eq!(again.status, 304);
}

#[tokio::test]
async fn jsx_uses_preact_where_it_is_vendored_and_react_elsewhere() {
    let site = AppSite::new(&[
        (
            "a.tsx",
            "export const a = (x: string) => <p class=\"x\">{x}</p>;",
        ),
        (
            "h.jsx",
            "/** @jsx h */ /** @jsxRuntime classic */ export const a = <p/>;",
        ),
        (
            "s.jsx",
            "/** @jsxImportSource solid-js/h */ export const a = <p/>;",
        ),
    ]);
    assert!(
        code(&site, "/a.tsx")
            .await
            .contains("from \"react/jsx-runtime\"")
    );
    assert!(code(&site, "/h.jsx").await.contains("h(\"p\""));
    assert!(
        code(&site, "/s.jsx")
            .await
            .contains("from \"solid-js/h/jsx-runtime\"")
    );
    site.write(&[
        (
            "vendor/preact/package.json",
            r#"{"main": "dist/cjs.js", "module": "dist/preact.module.js"}"#,
        ),
        ("vendor/preact/dist/preact.module.js", "export const h = 1"),
        (
            "vendor/preact/jsx-runtime/package.json",
            r#"{"module": "runtime.mjs"}"#,
        ),
        (
            "vendor/preact/jsx-runtime/runtime.mjs",
            "import { h } from 'preact'; export const jsx = h",
        ),
        ("deep/b.tsx", "export const a = <p/>;"),
    ]);
    assert!(
        code(&site, "/deep/b.tsx")
            .await
            .contains("from \"../vendor/preact/jsx-runtime/runtime.mjs\"")
    );
    assert!(
        code(&site, "/vendor/preact/jsx-runtime/runtime.mjs")
            .await
            .contains("from \"../../../vendor/preact/dist/preact.module.js\"")
    );
}

#[tokio::test]
async fn a_source_that_is_wrong_shows_the_position_in_the_console() {
    let site = AppSite::new(&[
        ("src/app.ts", "let a = 1;\nlet b: = 2;\n"),
        ("twice.ts", "let é = 1; let é = 2;"),
    ]);
    let answer = site.get("/src/app.ts").await;
    assert_eq!(
        (answer.status.as_u16(), answer.header("cache-control")),
        (200, "no-store")
    );
    let text = answer.text();
    assert!(
        text.starts_with("throw new SyntaxError(\"src/app.ts:2:8: "),
        "{text}"
    );
    assert!(
        text.contains("\\n2 | let b: = 2;\\n  |        ^\""),
        "{text}"
    );
    assert!(
        site.get("/twice.ts")
            .await
            .text()
            .contains("twice.ts:1:5: "),
        "{}",
        site.get("/twice.ts").await.text()
    );
    // Errors of a plain script are reported by the browser.
    site.write(&[
        ("plain.js", "import 'x'; let ="),
        ("src/app.ts", "let a = 1;"),
    ]);
    assert_eq!(code(&site, "/plain.js").await, "import 'x'; let =");
    // A file that was just sent is assumed to be unchanged for a moment.
    while code(&site, "/src/app.ts").await != "let a = 1;\n" {}
}

#[tokio::test]
async fn files_are_found_without_the_end_of_their_names() {
    let site = AppSite::new(&[
        (
            "app.js",
            "import './util'; import './view.js'; import './parts'; import('./lazy'); export * from './there.js'; import './no'; import '../out'",
        ),
        ("util.ts", "export {}"),
        ("view.tsx", "export {}"),
        ("parts/index.ts", "export {}"),
        ("lazy.mjs", "export {}"),
        ("there.js", ""),
        ("there.ts", ""),
    ]);
    assert_eq!(
        code(&site, "/app.js").await,
        "import \"./util.ts\"; import \"./view.tsx\"; import \"./parts/index.ts\"; import(\"./lazy.mjs\"); export * from './there.js'; import './no'; import '../out'"
    );
    for path in ["/util", "/util.js", "/view", "/view.jsx", "/parts", "/lazy"] {
        code(&site, path).await;
    }
}

#[tokio::test]
async fn bare_names_are_found_in_vendor_folders_and_others_are_left_alone() {
    let site = AppSite::new(&[
        (
            "app.js",
            "import 'one'; import 'two/sub.js'; import '@scope/three'; import '@scope/three/deep'; import 'four'; import 'five'; import 'gangway'; \
                    import 'unknown'; import 'https://cdn.example/x.js'; import '../../etc'; import 'x/../../secret'; import '#private';",
        ),
        ("vendor/one.js", ""),
        ("vendor/two/sub.js", ""),
        (
            "vendor/@scope/three/package.json",
            r#"{"exports": {".": {"types": "./t.d.ts", "node": "./n.js", "browser": {"import": "./b.js"}, "default": "./d.js"}, "./*": "./lib/*.mjs"}}"#,
        ),
        ("vendor/@scope/three/b.js", ""),
        ("vendor/@scope/three/lib/deep.mjs", ""),
        (
            "vendor/four/package.json",
            r#"{"exports": "../../../secret.js"}"#,
        ),
        ("vendor/four/index.js", ""),
    ]);
    write(
        site.folder.path(),
        &[
            (
                "vendor/five/index.js",
                "import 'one'; import 'six'; import './near'",
            ),
            ("vendor/six.mjs", "6"),
            ("vendor/five/near.js", ""),
            ("secret.js", ""),
        ],
    );
    assert_eq!(
        code(&site, "/app.js").await,
        "import \"./vendor/one.js\"; import \"./vendor/two/sub.js\"; import \"./vendor/@scope/three/b.js\"; import \"./vendor/@scope/three/lib/deep.mjs\"; \
         import \"./vendor/four/index.js\"; import \"./__gangway/vendor/five/index.js\"; import \"./__gangway/agent.js\"; \
         import 'unknown'; import 'https://cdn.example/x.js'; import '../../etc'; import 'x/../../secret'; import '#private';"
    );
    assert_eq!(
        code(&site, "/__gangway/vendor/five/index.js").await,
        "import \"../../../vendor/one.js\"; import \"../../../__gangway/vendor/six.mjs\"; import \"../../../__gangway/vendor/five/near.js\""
    );
    assert_eq!(code(&site, "/__gangway/vendor/six.mjs").await, "6");
    // Packages that are installed later are found later.
    site.write(&[("vendor/unknown.js", "")]);
    while !code(&site, "/app.js")
        .await
        .contains("\"./vendor/unknown.js\"")
    {}
}

#[tokio::test]
async fn sources_that_are_nested_without_end_do_no_harm() {
    const SIZE: usize = 256 << 10;
    let site = AppSite::new(&[]);
    let patterns = [
        "(",
        "[",
        "{",
        "!",
        "- ",
        "a=>",
        "a?b:",
        "a+",
        "a=",
        "if(a)",
        "`${",
        "<a>",
        "a.b(",
        "async()=>{",
        "f<",
        "new ",
        "class A{x=",
        "a?.[",
    ];
    for (nth, pattern) in patterns.into_iter().enumerate() {
        let source = pattern.repeat((SIZE - 20) / pattern.len());
        let end = if pattern == "<a>" { "tsx" } else { "ts" };
        let name = format!("deep{nth}.{end}");
        site.write(&[(&name, &format!("{source}1"))]);
        let answer = site.get(&format!("/{name}")).await;
        assert_eq!(answer.status, 200, "{pattern}");
        // The output is not much larger than the source.
        assert!(answer.body.len() < 16 * SIZE, "{pattern}");
    }
    let deep = "(".repeat(1000);
    site.write(&[
        ("deep.ts", &deep),
        ("deep.js", &format!("import 'gangway'; {deep}")),
    ]);
    assert_eq!(
        site.get("/deep.ts").await.text(),
        "throw new SyntaxError(\"deep.ts: nested too deeply\");\n"
    );
    assert!(
        site.get("/deep.js")
            .await
            .text()
            .starts_with("import 'gangway'")
    );
    let large = format!("let a: number = 1;{}", " ".repeat(SIZE));
    site.write(&[
        ("large.ts", &large),
        ("large.js", &format!("import 'x';{}", " ".repeat(SIZE))),
    ]);
    assert!(
        site.get("/large.ts")
            .await
            .text()
            .contains("large.ts: larger than 262144 bytes; split it")
    );
    assert!(
        site.get("/large.js")
            .await
            .text()
            .starts_with("import 'x';")
    );
}
