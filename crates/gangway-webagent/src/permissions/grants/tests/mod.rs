//! The effect of answers and settings on an origin's grants.

mod changes;

use jiff::SignedDuration;

use super::{super::Actor, *};

const SERVER: &str = "https://shop.example/mcp";

fn shop() -> Origin {
    "https://shop.example".parse().unwrap()
}

fn tab() -> TabId {
    "1".repeat(32).parse().unwrap()
}

fn tools<const N: usize>(names: [&str; N]) -> BTreeSet<ToolName> {
    names.map(|name| name.parse().unwrap()).into()
}

fn noon() -> Timestamp {
    "2020-03-01T12:00:00Z".parse().unwrap()
}

fn after(hours: i64) -> Timestamp {
    noon() + SignedDuration::from_hours(hours)
}

/// An answer about these scopes in one tab, without tools and servers.
fn answer(decision: Decision, scopes: &[Scope]) -> AnsweredRequest {
    AnsweredRequest {
        decision,
        scopes: scopes.iter().copied().collect(),
        shown: BTreeSet::new(),
        checked: None,
        server: None,
        tabs: [tab()].into(),
        end: Some(after(1)),
    }
}

/// An answer that selects `checked` of the tools `a/b` and `a/c`.
fn checked<const N: usize>(
    decision: Decision,
    scopes: &[Scope],
    names: [&str; N],
) -> AnsweredRequest {
    AnsweredRequest {
        shown: tools(["a/b", "a/c"]),
        checked: Some(tools(names)),
        ..answer(decision, scopes)
    }
}

fn settings(scopes: &[(Scope, Grant)], duration: GrantDuration) -> Settings {
    Settings {
        scopes: scopes.iter().copied().collect(),
        duration,
        ..Settings::default()
    }
}

fn set(stored: StoredGrants, settings: Settings) -> Result<StoredGrants, GrantChangeError> {
    GrantEdit::Set(settings).apply(stored, noon())
}

fn answered(stored: StoredGrants, answer: AnsweredRequest) -> StoredGrants {
    GrantEdit::Answered(answer).apply(stored, noon()).unwrap()
}

/// The stored grants after tools, a server and two scopes were allowed for an hour.
fn allowed() -> StoredGrants {
    let scopes = [Scope::ToolsCall, Scope::ServersRegister];
    let mut yes = checked(Decision::Always, &scopes, ["a/b", "a/c"]);
    yes.server = Some(SERVER.to_owned());
    answered(StoredGrants::default(), yes)
}

#[test]
fn allow_and_deny_are_stored_and_once_is_not() {
    let yes = allowed();
    assert!(yes.allows() && !yes.is_empty());
    assert_eq!(yes.scopes[&Scope::ToolsCall], Grant::Always);
    assert_eq!(yes.tools, Some(tools(["a/b", "a/c"])));
    assert_eq!(yes.servers, [SERVER.to_owned()].into());
    assert_eq!(yes.ends.scopes[&Scope::ToolsCall], after(1));
    assert_eq!(yes.ends.tools.len(), 2);
    assert_eq!(yes.ends.servers[SERVER], after(1));

    let mut no = answer(Decision::Denied, &[Scope::ToolsCall]);
    no.server = Some("https://other.example".to_owned());
    let denied = answered(StoredGrants::default(), no.clone());
    assert_eq!(denied.scopes, [(Scope::ToolsCall, Grant::Denied)].into());
    assert!(!denied.allows() && !denied.is_empty());
    assert_eq!((denied.servers.len(), denied.ends.is_empty()), (0, true));
    // A denial ends what was allowed, including its tools.
    let denied = answered(yes.clone(), no);
    assert_eq!((denied.tools, denied.ends.tools.len()), (None, 0));
    assert!(!denied.ends.scopes.contains_key(&Scope::ToolsCall));

    for decision in [Decision::Once, Decision::Unanswered] {
        let once = answer(decision, &[Scope::ChatOpen]);
        assert_eq!(answered(yes.clone(), once), yes);
    }
    let server_alone = StoredGrants {
        servers: yes.servers,
        ..StoredGrants::default()
    };
    assert!(server_alone.allows() && !StoredGrants::default().allows());
    assert!(StoredGrants::default().is_empty());
}

#[test]
fn tools_that_were_shown_and_left_unchecked_are_taken_away() {
    let mut before = allowed();
    before.tools = Some(tools(["a/b", "a/c", "other/x"]));
    let scope = [Scope::ToolsCall];
    let once = answered(before.clone(), checked(Decision::Once, &scope, ["a/b"]));
    assert_eq!(once.tools, Some(tools(["a/b", "other/x"])));
    assert!(!once.ends.tools.contains_key(&"a/c".parse().unwrap()));
    // "Allow once" is not stored.
    before.tools = Some(tools(["other/x"]));
    let once = answered(before.clone(), checked(Decision::Once, &scope, ["a/b"]));
    assert_eq!(once.tools, Some(tools(["other/x"])));
    let always = answered(before, checked(Decision::Always, &scope, ["a/b"]));
    assert_eq!(always.tools, Some(tools(["a/b", "other/x"])));
    // Without a scope for tools there is no list.
    let scope = [Scope::ModelPrompt];
    let none = answered(
        StoredGrants::default(),
        checked(Decision::Always, &scope, ["a/b"]),
    );
    assert_eq!(none.tools, None);
}

#[test]
fn settings_grant_refuse_and_revoke_scopes() {
    let both = [
        (Scope::ModelPrompt, Grant::Always),
        (Scope::ChatOpen, Grant::Denied),
    ];
    let stored = set(
        StoredGrants::default(),
        settings(&both, GrantDuration::Hour),
    )
    .unwrap();
    assert_eq!(stored.scopes, both.into());
    // Only what is allowed expires.
    assert_eq!(stored.ends.scopes, [(Scope::ModelPrompt, after(1))].into());
    let revoked = both.map(|(scope, _)| (scope, Grant::NotGranted));
    let stored = set(stored, settings(&revoked, GrantDuration::Hour)).unwrap();
    assert!(stored.is_empty());
    let once = settings(&[(Scope::ChatOpen, Grant::Once)], GrantDuration::Hour);
    let refused = set(stored, once).unwrap_err();
    assert_eq!(refused, GrantChangeError::NotOnce(Scope::ChatOpen));
    let forgotten = GrantEdit::Forget.apply(allowed(), noon()).unwrap();
    assert!(forgotten.is_empty());
}

#[test]
fn settings_list_tools_and_servers_and_new_ones_last_as_long_as_they_say() {
    let list = Settings {
        tools: Some(vec!["a/b".parse().unwrap(), "a/d".parse().unwrap()]),
        servers: Some(vec![SERVER.to_owned(), "https://new.example".to_owned()]),
        duration: GrantDuration::Day,
        ..Settings::default()
    };
    let refused = set(StoredGrants::default(), list.clone()).unwrap_err();
    assert_eq!(refused, GrantChangeError::NoScopeForTools);
    let denied = settings(&[(Scope::ToolsCall, Grant::Denied)], GrantDuration::Never);
    let denied = set(StoredGrants::default(), denied).unwrap();
    assert_eq!(
        set(denied, list.clone()),
        Err(GrantChangeError::NoScopeForTools)
    );
    let prompt = settings(&[(Scope::ModelPrompt, Grant::Always)], GrantDuration::Never);
    let prompt = set(StoredGrants::default(), prompt).unwrap();
    assert_eq!(
        set(prompt, list.clone()),
        Err(GrantChangeError::NoScopeForTools)
    );

    let stored = set(allowed(), list).unwrap();
    assert_eq!(stored.tools, Some(tools(["a/b", "a/d"])));
    let ends: Vec<_> = stored.ends.tools.into_values().collect();
    assert_eq!(ends, [after(1), after(24)]);
    assert_eq!(stored.servers.len(), 2);
    assert_eq!(stored.ends.servers[SERVER], after(1));
    assert_eq!(stored.ends.servers["https://new.example"], after(24));
}

#[test]
fn servers_go_with_the_scope_to_register_them() {
    let other = settings(&[(Scope::ChatOpen, Grant::NotGranted)], GrantDuration::Day);
    assert_eq!(set(allowed(), other).unwrap(), allowed());
    let register = |grant| settings(&[(Scope::ServersRegister, grant)], GrantDuration::Day);
    let longer = set(allowed(), register(Grant::Always)).unwrap();
    assert_eq!(longer.ends.servers[SERVER], after(24));
    assert_eq!(longer.ends.tools, allowed().ends.tools);
    for grant in [Grant::Denied, Grant::NotGranted] {
        let revoked = set(allowed(), register(grant)).unwrap();
        assert!(revoked.servers.is_empty() && revoked.ends.servers.is_empty());
    }
}

#[test]
fn a_list_of_tools_lasts_as_long_as_the_longer_of_its_scopes() {
    let end = |scopes: &[(Scope, GrantDuration)]| {
        let stored = scopes.iter().fold(allowed(), |stored, (scope, duration)| {
            set(stored, settings(&[(*scope, Grant::Always)], *duration)).unwrap()
        });
        stored.ends.tools.get(&"a/b".parse().unwrap()).copied()
    };
    let (call, model) = (Scope::ToolsCall, Scope::ModelTools);
    assert_eq!(end(&[(model, GrantDuration::Day)]), Some(after(24)));
    let shorter = [(model, GrantDuration::Day), (call, GrantDuration::Hour)];
    assert_eq!(end(&shorter), Some(after(24)));
    assert_eq!(end(&[(model, GrantDuration::Never)]), None);
    assert_eq!(
        end(&[(Scope::ModelPrompt, GrantDuration::Day)]),
        Some(after(1))
    );
}

#[test]
fn a_change_that_only_takes_away_is_known_as_such() {
    let scope = |grant| GrantEdit::Set(settings(&[(Scope::ChatOpen, grant)], GrantDuration::Never));
    let tools = Settings {
        tools: Some(Vec::new()),
        ..Settings::default()
    };
    let servers = Settings {
        servers: Some(Vec::new()),
        ..Settings::default()
    };
    for (edit, narrows) in [
        (GrantEdit::Forget, true),
        (GrantEdit::Answered(answer(Decision::Denied, &[])), true),
        (GrantEdit::Answered(answer(Decision::Always, &[])), false),
        (scope(Grant::NotGranted), true),
        (scope(Grant::Denied), true),
        (scope(Grant::Always), false),
        (GrantEdit::Set(tools), false),
        (GrantEdit::Set(servers), false),
    ] {
        assert_eq!(edit.narrows(), narrows, "{edit:?}");
    }
}

#[test]
fn an_answer_is_logged_by_scope_tools_and_server() {
    let mut yes = checked(
        Decision::Always,
        &[Scope::ToolsCall, Scope::ChatOpen],
        ["a/b"],
    );
    yes.server = Some(SERVER.to_owned());
    let entries = super::super::decide::decisions(&shop(), &yes, Actor::Person);
    let texts: Vec<_> = entries
        .iter()
        .map(|entry| (entry.scope, entry.what.as_str()))
        .collect();
    let expected = [
        (Some(Scope::ToolsCall), "asked"),
        (Some(Scope::ChatOpen), "asked"),
        (None, "tools: 1 of 2"),
        (None, "server: https://shop.example/mcp"),
    ];
    assert_eq!(texts, expected);
    let by = |by| {
        entries
            .iter()
            .all(|entry| entry.by.as_deref() == by && entry.outcome == "always")
    };
    assert!(by(Some("person")));
}
