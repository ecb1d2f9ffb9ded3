//! The committed schemas and TypeScript types are those of the Rust wire types.

mod declare;
mod pages;

use std::path::PathBuf;

use gangway::{
    keys::{CreateKey, KeyList, LoggedIn, Login, LoginCode, LoginList},
    openapi,
    protocols::sessions::wire,
};
use gangway_applets::wire::{self as applets, channel};
use gangway_apps::manifest;
use gangway_http::{
    asks::wire as asks,
    auth::{CreatedKey, KeyInfo, LoginInfo},
    error::ApiError,
    feed::{
        frame::{EventBody, EventFrame, FeedFrame},
        wire as feed,
    },
};
use gangway_providers::wire as models;
use gangway_tools::{
    approvals::wire as approvals,
    catalog::wire as catalog,
    entry::{Installed, ServerEntry},
    login, wire as tools,
};
use gangway_webagent::permissions::wire as permissions;
use gangway_weblets::wire as weblets;
use serde_json::Value;

use declare::{declare, declare_messages};
use pages::{declare_browser, declare_pages};

fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Compares a generated file with the committed one, or writes it when asked to.
pub fn guard(path: &str, generated: &str) {
    let file = repository().join(path);
    if std::env::var_os("GANGWAY_BLESS").is_some() {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, generated).unwrap();
        return;
    }
    let committed = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        committed == generated,
        "{path} is stale: run `make schema` and commit what it writes"
    );
}

/// The same with every object's fields by name: whether JSON keeps an order of its own depends on what else is built in.
pub fn sorted(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(sorted).collect(),
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.into_iter().collect();
            fields.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(fields.into_iter().map(|(k, v)| (k, sorted(v))).collect())
        }
        plain => plain,
    }
}

#[test]
fn the_openapi_document_is_that_of_the_routes() {
    let document = openapi::openapi().to_pretty_json().unwrap() + "\n";
    guard("schema/openapi.json", &document);
}

#[test]
fn every_operation_documents_the_shared_responses() {
    let document = serde_json::to_value(openapi::openapi()).unwrap();
    let mut checked = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let form = match path.split('/').nth(1) {
                Some("api") => "#/components/schemas/ApiError",
                Some("v1") => "#/components/schemas/OpenAiError",
                _ => continue,
            };
            let open = ["/api/login", "/api/logout", "/api/panel", "/api/panel/{id}"]
                .contains(&path.as_str());
            let mut expected = vec!["403", "421", "429", "431", "500", "503"];
            if !open {
                expected.push("401");
            }
            if operation.get("requestBody").is_some() {
                expected.extend(["413", "415"]);
            }
            for status in expected {
                let mut answer = &operation["responses"][status];
                if let Some(shared) = answer["$ref"].as_str() {
                    answer = document.pointer(&shared[1..]).unwrap();
                }
                let body = &answer["content"]["application/json"]["schema"]["$ref"];
                assert_eq!(body, form, "{method} {path} {status}");
            }
            assert_eq!(operation.get("security").is_some(), !open, "{path}");
            checked += 1;
        }
    }
    assert!(checked > 10);
    let history = &document["paths"]["/api/history"]["get"]["responses"]["200"];
    assert!(history["content"]["text/html"].is_object());
    let feed = &document["paths"]["/api/sessions/{id}/events"]["get"]["responses"];
    assert!(feed["426"].is_object());
}

#[test]
fn bodies_that_are_bytes_are_binary_in_the_openapi_document() {
    let document = serde_json::to_value(openapi::openapi()).unwrap();
    let mut found = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for operation in item.as_object().unwrap().values() {
            let Some(content) = operation["requestBody"]["content"].as_object() else {
                continue;
            };
            for (kind, body) in content {
                if kind != "application/json" {
                    let wanted = serde_json::json!({ "type": "string", "format": "binary" });
                    assert_eq!(body["schema"], wanted, "{path} {kind}");
                    found.push(format!("{path} {kind}"));
                }
            }
        }
    }
    assert!(found.contains(&"/api/remote_agents/{id}/uploads application/octet-stream".into()));
    assert!(found.contains(&"/api/remote_agents/{id}/transcribe audio/webm".into()));
}

#[test]
fn the_json_schema_is_that_of_the_wire_types() {
    let schema = serde_json::to_string_pretty(&sorted(openapi::json_schema())).unwrap() + "\n";
    guard("schema/gangway.schema.json", &schema);
}

#[test]
fn the_typescript_types_are_those_of_the_wire_types() {
    let mut text =
        String::from("// Generated from the Rust wire types by `make schema`; do not edit.\n");
    text.push_str("\n/** Any JSON value. */\nexport type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };\n");
    declare::<ApiError>(&mut text);
    declare::<feed::Source>(&mut text);
    declare::<feed::SessionState>(&mut text);
    declare::<feed::Session>(&mut text);
    declare::<wire::CreateSession>(&mut text);
    declare::<wire::UpdateSession>(&mut text);
    declare::<wire::SessionList>(&mut text);
    declare::<wire::WhenBusy>(&mut text);
    declare::<wire::PostMessage>(&mut text);
    declare::<wire::MessageAccepted>(&mut text);
    declare::<wire::StopResult>(&mut text);
    declare::<wire::PostAnswer>(&mut text);
    declare::<feed::Outcome>(&mut text);
    declare::<feed::Usage>(&mut text);
    declare::<feed::ToolState>(&mut text);
    declare::<feed::EntryBody>(&mut text);
    declare::<feed::Entry>(&mut text);
    declare::<feed::History>(&mut text);
    declare::<feed::ContextUse>(&mut text);
    declare::<feed::Snapshot>(&mut text);
    declare::<EventBody>(&mut text);
    declare::<EventFrame>(&mut text);
    declare::<FeedFrame>(&mut text);
    declare::<wire::AgentInfo>(&mut text);
    declare::<wire::AgentList>(&mut text);
    declare::<CreateKey>(&mut text);
    declare::<CreatedKey>(&mut text);
    declare::<KeyInfo>(&mut text);
    declare::<KeyList>(&mut text);
    declare::<Login>(&mut text);
    declare::<models::DefaultModel>(&mut text);
    declare::<models::ProviderInfo>(&mut text);
    declare::<models::ProviderList>(&mut text);
    declare::<models::ModelInfo>(&mut text);
    declare::<models::ModelList>(&mut text);
    declare::<models::SetDefault>(&mut text);
    declare::<models::SetKey>(&mut text);
    declare::<models::EngineState>(&mut text);
    declare::<models::EmbeddedActivity>(&mut text);
    declare::<models::ModelActivity>(&mut text);
    declare::<models::WeightsInfo>(&mut text);
    declare::<models::CatalogInfo>(&mut text);
    declare::<models::PullStep>(&mut text);
    declare::<models::PullInfo>(&mut text);
    declare::<models::WeightsList>(&mut text);
    declare::<models::PullWeights>(&mut text);
    declare_tools(&mut text);
    declare::<login::LoginPage>(&mut text);
    declare::<LoginCode>(&mut text);
    declare::<LoggedIn>(&mut text);
    declare::<LoginInfo>(&mut text);
    declare::<LoginList>(&mut text);
    declare_permissions(&mut text);
    declare_browser(&mut text);
    declare_pages(&mut text);
    declare_remote(&mut text);
    declare_relay(&mut text);
    declare_messages(&mut text);
    declare_applets(&mut text);
    declare_apps(&mut text);
    guard("web/client/src/generated/wire.ts", &text);
}

fn declare_tools(text: &mut String) {
    declare::<tools::ToolServerState>(text);
    declare::<tools::ToolServerInfo>(text);
    declare::<tools::ToolServerList>(text);
    declare::<Installed>(text);
    declare::<approvals::ApprovalPolicy>(text);
    declare::<ServerEntry>(text);
    declare::<approvals::LastingChoice>(text);
    declare::<approvals::ServerApproval>(text);
    declare::<approvals::ToolApproval>(text);
    declare::<approvals::ApprovalList>(text);
    declare::<approvals::SetServerApproval>(text);
    declare::<approvals::SetToolApproval>(text);
    declare::<tools::AddServers>(text);
    declare::<tools::LogLine>(text);
    declare::<tools::LogLines>(text);
    declare::<tools::ToolInfo>(text);
    declare::<tools::ToolList>(text);
    declare::<tools::CallTool>(text);
    declare::<tools::ToolAnswer>(text);
    declare::<tools::RouteSentence>(text);
    declare::<tools::RouteAnswer>(text);
    declare::<catalog::RefreshState>(text);
    declare::<catalog::CatalogRefresh>(text);
    declare::<catalog::OptionKind>(text);
    declare::<catalog::InputPlace>(text);
    declare::<catalog::CatalogInput>(text);
    declare::<catalog::CatalogOption>(text);
    declare::<catalog::CatalogServer>(text);
    declare::<catalog::CatalogPage>(text);
    declare::<catalog::CatalogState>(text);
    declare::<catalog::RuntimeInfo>(text);
    declare::<catalog::RuntimeList>(text);
    declare::<catalog::PackageKind>(text);
    declare::<catalog::PackageName>(text);
    declare::<catalog::InstallServer>(text);
    declare::<catalog::InstallState>(text);
    declare::<catalog::StepName>(text);
    declare::<catalog::StepState>(text);
    declare::<catalog::InstallStep>(text);
    declare::<catalog::Install>(text);
    declare::<catalog::InstallList>(text);
    declare::<catalog::SetSecrets>(text);
}

fn declare_permissions(text: &mut String) {
    declare::<asks::PermissionScope>(text);
    declare::<asks::PermissionDuration>(text);
    declare::<asks::PermissionDetails>(text);
    declare::<asks::AskInfo>(text);
    declare::<asks::AskerInfo>(text);
    declare::<asks::AskRequest>(text);
    declare::<asks::AskedTool>(text);
    declare::<asks::AskedServer>(text);
    declare::<asks::AskList>(text);
    declare::<asks::AskDecision>(text);
    declare::<asks::AnswerAsk>(text);
    declare::<asks::AsksFrame>(text);
    declare::<permissions::PermissionGrant>(text);
    declare::<permissions::ModelBudget>(text);
    declare::<permissions::SetBudget>(text);
    declare::<permissions::OriginPermissions>(text);
    declare::<permissions::PermissionList>(text);
    declare::<permissions::SetPermissions>(text);
    declare::<permissions::GrantEnds>(text);
    declare::<permissions::AuditKind>(text);
    declare::<permissions::AuditEntry>(text);
    declare::<permissions::AuditPage>(text);
}

fn declare_relay(text: &mut String) {
    use gangway_relay::routes::{invitations, manage};
    use gangway_relay::study;
    declare::<study::Direction>(text);
    declare::<study::StudyEvent>(text);
    declare::<study::StudyEvents>(text);
    declare::<study::StudyEntry>(text);
    declare::<study::StudyList>(text);
    declare::<study::StudyBy>(text);
    declare::<study::StudyStage>(text);
    declare::<study::StudySummary>(text);
    declare::<invitations::CreateInvitation>(text);
    declare::<invitations::InvitationInfo>(text);
    declare::<invitations::CreatedInvitation>(text);
    declare::<invitations::InvitationList>(text);
    declare::<manage::RelayInfo>(text);
    declare::<manage::RelayList>(text);
    declare::<manage::RelayTokens>(text);
}

fn declare_remote(text: &mut String) {
    use gangway_remote::{self as remote, config, wire};
    declare::<config::Features>(text);
    declare::<config::ProjectConfig>(text);
    declare::<config::PersonaConfig>(text);
    declare::<remote::AgentState>(text);
    declare::<remote::StoredIn>(text);
    declare::<wire::CreateAgent>(text);
    declare::<wire::AdoptAgent>(text);
    declare::<wire::FlagsWanted>(text);
    declare::<wire::CreatedAgent>(text);
    declare::<wire::RemoteAgentInfo>(text);
    declare::<wire::RemoteAgentList>(text);
    declare::<wire::AgentAlive>(text);
    declare::<wire::AgentShutdown>(text);
    declare::<wire::AgentHandOver>(text);
    declare::<wire::AgentToken>(text);
    declare::<wire::OpenFrame>(text);
    declare::<wire::FrameInfo>(text);
    declare::<wire::UploadRules>(text);
    declare::<wire::PostToAgent>(text);
    declare::<wire::AcceptedByAgent>(text);
    declare::<wire::AnswerToAgent>(text);
    declare::<wire::EmptyBody>(text);
    declare::<wire::Uploaded>(text);
    declare::<wire::SpeechText>(text);
    declare::<wire::AgentFrame>(text);
    declare::<wire::ProjectInfo>(text);
    declare::<wire::ProjectList>(text);
    declare::<wire::PersonaInfo>(text);
    declare::<wire::PersonaList>(text);
    declare::<wire::PersonaText>(text);
    declare::<wire::PutPersonaText>(text);
    declare::<wire::WrittenPersonaText>(text);
}

fn declare_applets(text: &mut String) {
    declare::<feed::ConsentState>(text);
    declare::<gangway_http::feed::app_event::AppEvent>(text);
    declare::<gangway_http::feed::ask_entry::LoggedAsk>(text);
    declare::<gangway_http::feed::ask_entry::AskOutcome>(text);
    declare::<gangway_http::feed::ask_entry::AskActor>(text);
    declare::<gangway_http::feed::page_entry::PageKind>(text);
    declare::<gangway_http::feed::page_entry::PageEntry>(text);
    declare::<applets::AppletList>(text);
    declare::<applets::AppletInfo>(text);
    declare::<applets::AppletConsentList>(text);
    declare::<applets::AppletConsent>(text);
    declare::<applets::PendingConsent>(text);
    declare::<applets::SetAppletConsent>(text);
    declare::<applets::ConsentDecision>(text);
    declare::<channel::AppletClientMessage>(text);
    declare::<channel::InvokeOptions>(text);
    declare::<channel::Encoding>(text);
    declare::<channel::AppletServerMessage>(text);
    declare::<channel::AppletFile>(text);
}

fn declare_apps(text: &mut String) {
    declare::<manifest::Severity>(text);
    declare::<manifest::Problem>(text);
    declare::<manifest::Delivery>(text);
    declare::<manifest::FieldKind>(text);
    declare::<manifest::Field>(text);
    declare::<manifest::ContextFields>(text);
    declare::<weblets::AppAddress>(text);
    declare::<weblets::EnterApp>(text);
    declare::<weblets::ReplayApp>(text);
    declare::<weblets::AppInfo>(text);
    declare::<weblets::AppEventInfo>(text);
    declare::<weblets::UntrustedFolder>(text);
    declare::<weblets::TrustFolder>(text);
    declare::<weblets::AppList>(text);
    declare::<weblets::AppDetails>(text);
    declare::<weblets::LaunchAgent>(text);
    declare::<weblets::LaunchApp>(text);
    declare::<weblets::LaunchedApp>(text);
    declare::<weblets::LaunchInfo>(text);
    declare::<weblets::OpenLaunch>(text);
    declare::<weblets::OpenedLaunch>(text);
    declare::<weblets::SendAppEvent>(text);
    declare::<weblets::SentAppEvent>(text);
    declare::<weblets::channel::AppFault>(text);
    declare::<weblets::channel::PageClientMessage>(text);
    declare::<weblets::channel::PageServerMessage>(text);
    declare::<weblets::channel::AgentClientMessage>(text);
    declare::<weblets::channel::AgentServerMessage>(text);
}
