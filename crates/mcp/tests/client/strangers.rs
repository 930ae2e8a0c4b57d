//! Servers that misbehave: every wait ends, every list and text is bounded, and every error says what happened.

use libtest_mimic::Failed;
use metier_mcp::{McpClientError, McpConnection, McpSkillFault, McpToolFault};
use serde_json::json;

use crate::bench::{
    Promise, block_on, causes, echo, has, hurried, options, over_pipes, program, refusal, same,
    script,
};

pub(crate) const PROMISES: &[Promise] = &[
    ("a_program_that_is_not_there_is_named", not_there),
    ("a_program_that_ends_at_once_is_quoted", ends_at_once),
    ("a_program_that_says_nothing_is_not_waited_for", says_nothing),
    ("a_program_that_says_nonsense_is_quoted", nonsense),
    ("a_program_that_never_stops_talking_is_not_listened_to", never_stops),
    ("a_message_without_an_end_is_not_kept", without_an_end),
    ("an_answer_to_another_question_is_no_answer", wrong_id),
    ("an_answer_that_comes_drop_by_drop_is_not_waited_for", drip),
    ("a_greeting_may_be_refused", refused),
    ("a_version_that_nobody_speaks_is_told", versions),
    ("a_server_that_ends_in_the_middle_is_told", ends_in_the_middle),
    ("a_banner_before_the_first_message_does_no_harm", banner),
    ("tools_are_bounded_and_what_is_left_out_is_said", tools),
    ("a_list_without_an_end_is_given_up", endless),
    ("what_a_server_says_of_itself_is_bounded", long_names),
    ("a_server_that_does_not_read_is_not_waited_for", does_not_read),
];

fn not_there() -> Result<(), Failed> {
    let shown = block_on(refusal(&program(["no-such-program"]), &options()));
    has(&shown, "the server `tester` cannot be started: `no-such-program` cannot be started")
}

fn ends_at_once() -> Result<(), Failed> {
    let shown = block_on(refusal(&script("echo one >&2; echo two >&2; exit 3"), &options()));
    same(shown.as_str(), "the server `tester` ended with exit code 3; it said: one; two")?;
    let shown = block_on(refusal(&script("kill -9 $$"), &options()));
    same(shown.as_str(), "the server `tester` was ended by signal 9")
}

fn says_nothing() -> Result<(), Failed> {
    let shown = block_on(refusal(&script("echo I wait >&2; sleep 1000"), &hurried()));
    same(shown.as_str(), "the server `tester` did not answer within 4 s; it said: I wait")
}

fn nonsense() -> Result<(), Failed> {
    let text = "echo '<html> no'; echo '{\"a\": 1}'; sleep 1000";
    let shown = block_on(refusal(&script(text), &hurried()));
    let should = "did not answer within 4 s; it said: no message of the protocol: <html> no";
    has(&shown, should)
}

fn never_stops() -> Result<(), Failed> {
    let shown = block_on(refusal(&script("yes nonsense"), &options()));
    has(&shown, "it said: no message of the protocol: nonsense")
}

fn without_an_end() -> Result<(), Failed> {
    let shown = block_on(refusal(&script("cat /dev/zero"), &options()));
    has(&shown, "it said: a message of more than 32 MiB")
}

fn wrong_id() -> Result<(), Failed> {
    let changes = "
def tools(request):
    return result({'id': 4711}, {'tools': TOOLS})
";
    block_on(async {
        let connection = McpConnection::open(&over_pipes(changes), &hurried()).await?;
        let error = connection.tools().await.expect_err("no answer");
        same(causes(&error).as_str(), "the server `tester` did not answer within 1 s")?;
        // It is still there for everything else.
        same(echo(&connection, json!(1)).await?.text.as_str(), r#"{"value": 1}"#)?;
        connection.close().await;
        let greets = "
def initialize(request):
    return result({'id': 4711}, {})
";
        has(&refusal(&over_pipes(greets), &hurried()).await, "it answers what nobody asked")
    })
}

fn drip() -> Result<(), Failed> {
    let changes = "
def tools(request):
    with WRITING:
        while True:
            sys.stdout.write('x')
            sys.stdout.flush()
            time.sleep(0.1)
";
    block_on(async {
        let connection = McpConnection::open(&over_pipes(changes), &hurried()).await?;
        let error = connection.tools().await.expect_err("no answer");
        same(causes(&error).as_str(), "the server `tester` did not answer within 1 s")?;
        connection.close().await;
        Ok(())
    })
}

fn refused() -> Result<(), Failed> {
    let changes = "
def initialize(request):
    return error(request, -32000, 'not today' + 'y' * 9000)
";
    let shown = block_on(refusal(&over_pipes(changes), &options()));
    has(&shown, "the server `tester` refuses: not todayyy")?;
    has(&shown, "more] (code -32000)")
}

fn versions() -> Result<(), Failed> {
    let changes = "
def discover(request):
    return result(request, {'resultType': 'complete', 'supportedVersions': ['2099-01-01'], 'capabilities': {},
        'ttlMs': 0, 'cacheScope': 'private', '_meta': {}})

def initialize(request):
    return error(request, -32022, 'only the newest')
";
    let shown = block_on(refusal(&over_pipes(changes), &options()));
    has(&shown, "the server `tester` refuses: only the newest")
}

fn ends_in_the_middle() -> Result<(), Failed> {
    let changes = "
def call(request, say):
    print('out of luck', file=sys.stderr, flush=True)
    os._exit(9)
";
    block_on(async {
        let connection = McpConnection::open(&over_pipes(changes), &options()).await?;
        let error = echo(&connection, json!(1)).await.expect_err("no answer");
        let should = "the server `tester` ended with exit code 9; it said: out of luck";
        same(causes(&error).as_str(), should)?;
        let again = connection.tools().await.expect_err("nobody is there");
        same(matches!(again, McpClientError::Ended { .. }), true)?;
        connection.close().await;
        Ok(())
    })
}

fn banner() -> Result<(), Failed> {
    let changes = "print('Welcome!\\n\\n{}')";
    block_on(async {
        let connection = McpConnection::open(&over_pipes(changes), &options()).await?;
        same(connection.tools().await?.tools.len(), 1)?;
        connection.close().await;
        Ok(())
    })
}

fn tools() -> Result<(), Failed> {
    let changes = "
def tool(name, description='d'):
    return {'name': name, 'description': description, 'inputSchema': {'type': 'object'}}

TOOLS = [tool('large', 'x' * 70000), {'name': 'bare'}, 7, tool(''), tool('n' * 129), tool('t0')]
TOOLS += [tool(f't{it}') for it in range(200)]
";
    block_on(async {
        let connection = McpConnection::open(&over_pipes(changes), &options()).await?;
        let tools = connection.tools().await?;
        same(tools.tools.len(), 128)?;
        same(tools.tools[127].name.as_str(), "t127")?;
        let said: Vec<String> = tools.left_out.iter().map(ToString::to_string).collect();
        let said = said.join("\n");
        for part in [
            "the tool `large`, which says more than 65536 bytes",
            "the tool `bare`, which does not say what its arguments are",
            "a tool without a usable name: ``",
            "a tool without a usable name: `nnn",
            "a second tool `t0`",
            "there are more than 128 tools",
        ] {
            has(&said, part)?;
        }
        // Those that nobody wants leave room for others, and nothing is said of them.
        let is_hidden = |name: &str| name == "large" || name.len() < 4;
        let tools = connection.tools_but(is_hidden).await?;
        same(tools.tools.len(), 100)?;
        same(tools.tools[99].name.as_str(), "t199")?;
        let about = |it: &McpToolFault| {
            let it = it.to_string();
            it.contains("large") || it.contains("128")
        };
        same(tools.left_out.iter().any(about), false)?;
        connection.close().await;
        Ok(())
    })
}

fn endless() -> Result<(), Failed> {
    let changes = "
PAGES = 0

def tools(request):
    global PAGES
    PAGES += 1
    return result(request, {'tools': [], 'nextCursor': str(PAGES)})

def skills(request):
    return result(request, {'skills': [], 'nextCursor': 'again'})
";
    block_on(async {
        let connection = McpConnection::open(&over_pipes(changes), &options()).await?;
        let tools = connection.tools().await?;
        same(tools.left_out, vec![McpToolFault::Endless])?;
        let skills = connection.skills().await?;
        same(&skills.problems[0].fault, &McpSkillFault::Endless)?;
        connection.close().await;
        Ok(())
    })
}

fn long_names() -> Result<(), Failed> {
    let changes = "
def initialize(request):
    return result(request, {'protocolVersion': '2025-06-18', 'capabilities': {}, 'instructions': 'i' * (1 << 20),
        'serverInfo': {'name': 'n' * 5000, 'version': 'v' * 5000}})
";
    block_on(async {
        let connection = McpConnection::open(&over_pipes(changes), &options()).await?;
        let server = connection.server().clone();
        let sizes = [server.name.len(), server.version.len(), server.instructions.len()];
        same(sizes.map(|it| it < 17_000), [true; 3])?;
        same(server.name.len() < 250, true)?;
        same(server.protocol.as_str(), "2025-06-18")?;
        connection.close().await;
        Ok(())
    })
}

fn does_not_read() -> Result<(), Failed> {
    let changes = "
def call(request, say):
    os.kill(os.getpid(), signal.SIGSTOP)
";
    block_on(async {
        let connection = McpConnection::open(&over_pipes(changes), &hurried()).await?;
        for _ in 0..2 {
            let error = echo(&connection, json!("x".repeat(8 << 20))).await.expect_err("no answer");
            has(&causes(&error), "did not answer within 1 s")?;
        }
        connection.close().await;
        Ok(())
    })
}
