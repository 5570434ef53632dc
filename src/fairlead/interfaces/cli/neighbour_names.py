"""What other tools and everyday language call Fairlead's commands.

Read by `suggestions` when a command is unknown. Names of git, GSD, Spec Kit, Backlog.md, Beads, Task
Master, OpenSpec and of agents' own slash commands are here; a test checks that each target exists.
"""

# Prefixes that other tools put before their commands: `/gsd-plan-phase`, `speckit.tasks`.
TOOLS = frozenset(
    "gsd speckit specify opsx openspec bd beads backlog taskmaster tm fairlead fl".split()
)

# Our command: what it is called elsewhere.
NEIGHBOUR_NAMES = {
    "status": (
        "progress stats statistics overview dashboard board kanban summary manager where position "
        "info view session-report milestone-summary count state-show now st home "
        "report-status show-status get-status whereami inspect-project ns-context context "
        "complexity-report"
    ),
    "next": (
        "ready next-task next-step todo-next what-next whats-next suggest autonext upcoming "
        "ready-work available"
    ),
    "check": (
        "validate lint health audit drift consistency analyze analyse cross-check diff "
        "validate-dependencies check-drift validate-health verify-state stale fsck status-check "
        "audit-state"
    ),
    "explain": "why reason because trace describe-number blame annotate",
    "help": "usage commands man manual docs guide quickstart instructions onboard prime surface doc",
    "version": "ver about release upgrade update what-version",
    "demo": "tour example sample tutorial try playground showcase",
    "init": (
        "setup create-project initialize initialise bootstrap start-project new-workspace "
        "from-template clone workspace scaffold"
    ),
    "new": (
        "new-project specify spec proposal propose idea parse-prd prd brainstorm create-spec "
        "new-change from-idea ingest-docs sketch explore ideate import"
    ),
    "capture": (
        "add-todo todo todos note notes check-todos create task task-create add-task new-task "
        "create-task draft add-backlog backlog review-backlog plant-seed seed remember inbox "
        "issue create-issue quick-add q add-idea thread add-note jot list-todos comment"
    ),
    "run": (
        "council autonomous autopilot auto goal ultraplan plan-and-execute start-job launch go "
        "ask-council deliberate vote debate swarm loop batch vibe orchestrate discuss-and-run "
        "job-start run-all"
    ),
    "quick": (
        "fast small-task one-off oneoff hotfix do-task do just-do-it do-it tiny spike quick-batch "
        "prototype patch"
    ),
    "debug": "diagnose bug investigate forensics troubleshoot fix-bug bughunt root-cause audit-fix",
    "pause": (
        "pause-work handoff hand-over handover break suspend stop-work park save-session stash "
        "shelve wip"
    ),
    "resume": (
        "resume-work continue unpause pick-up resume-project recall resume-session continue-work "
        "resume-agent next-session"
    ),
    "phase list": "phases list-phases ls-phases phase-ls list-specs epics epic list-tasks ls all-phases",
    "phase show": "phase-info get-phase show-phase view-phase phase-details show-task task-show find-phase",
    "phase plans": "plans tasks task-list list-plans plan-list subtasks show-plans phase-plan-index sequence",
    "phase add": "add-phase new-phase create-phase append-phase phase-new add-epic create-epic",
    "phase insert": "insert-phase phase-before squeeze-phase urgent-phase move",
    "phase remove": "remove-phase delete-phase drop-phase rm-phase phase-delete phase-rm",
    "phase discuss": (
        "discuss-phase clarify discuss questions interview list-phase-assumptions assumptions "
        "spec-phase ask-phase chat talk ask"
    ),
    "phase plan": (
        "plan-phase plan research-phase research make-plan create-plan breakdown break-down expand "
        "decompose tasks-generate generate-tasks generate write-plan map-codebase pattern-mapper "
        "plan-work mvp-phase ui-phase ultraplan-phase"
    ),
    "phase execute": (
        "execute-phase execute implement implementation build work apply exec-phase run-phase "
        "start-phase do-phase execute-plan develop code ship-it carry-out start-work phase-run"
    ),
    "phase verify": (
        "verify-work verify-phase validate-phase uat test tests checklist acceptance audit-uat "
        "add-tests secure-phase code-review review ui-review verification qa"
    ),
    "phase complete": (
        "complete-phase close-phase finish-phase done-phase close phase-done set-status done finish "
        "mark-done task-done mark-complete"
    ),
    "milestone new": "new-milestone create-milestone start-milestone add-milestone milestone-add",
    "milestone complete": (
        "complete-milestone close-milestone finish-milestone ship archive audit-milestone "
        "release-milestone archive-milestone milestone-archive tag version-bump release-notes "
        "deploy publish"
    ),
    "milestone list": "list-milestones milestones releases versions",
    "roadmap show": "show-roadmap view-roadmap timeline gantt roadmap-view",
    "roadmap analyze": "analyze-roadmap roadmap-analysis analyze-complexity blocked",
    "state add-decision": (
        "add-decision decision decisions decide decision-create record-decision adr log-decision "
        "new-decision create-decision"
    ),
    "state add-blocker": "add-blocker blocker block record-blocker add-impediment stuck impediment",
    "state resolve-blocker": "resolve-blocker unblock clear-blocker remove-blocker resolve",
    "state sync": "sync refresh reconcile rebuild resync update-state sync-state",
    "state prune": "prune compact compaction cleanup shrink trim gc tidy archive-decisions clean",
    "state get": "state-get snapshot state-snapshot memory memories load state-load json",
    "planning start": "constitution start-planning plan-start charter begin-planning plan-goal",
    "planning add": "add-module add-requirement module requirement requirements criteria",
    "planning approve": "approve approve-plan accept sign-off signoff confirm-plan",
    "planning status": "plan-status planning-show exit-criteria criteria-status",
    "planning export": "export export-plan plan-export tasks-to-issues taskstoissues issues github",
    "exec assign": "assign claim take delegate assign-task",
    "exec status": "modules module-status assignments workers",
    "job list": "jobs runs list-jobs list-runs history ps queue list-agents sessions workflows top",
    "job show": (
        "show-job run-show job-status job-info show-run ballots votes cost costs usage spending"
    ),
    "job watch": "watch follow tail logs log live attach monitor stream events feed",
    "job answer": "answer reply respond answer-question tell steer",
    "job cancel": "cancel stop kill abort terminate halt cancel-job stop-job end",
    "job retry": "retry rerun restart redo try-again reopen",
    "job veto": "veto reject refuse deny",
    "doctor": (
        "fix repair heal mend recover health-check troubleshoot-setup migrate validate-fix "
        "self-check fix-dependencies"
    ),
    "doctor agents": (
        "agents agent login logout auth whoami models model which-agent detect providers "
        "list-providers auth-status"
    ),
    "undo": (
        "revert rollback roll-back restore take-back rewind undo-last reflog checkout reset discard"
    ),
    "config list": "settings preferences options list-config env config-show show-config configuration",
    "config set": "set set-profile set-config configure set-model profile set-setting config-set permissions",
    "config get": "get-config get-setting config-get",
    "config unset": "unset unset-config remove-setting config-unset",
    "install": (
        "hooks plugin plugins integrate connect add-host integration mcp-install enable link"
    ),
    "uninstall": "disconnect remove-hooks unplug disable remove-host deinstall unlink",
    "serve": "web ui gui localhost http site webui web-board browser browse",
    "graph": "tree dag dot deps dependencies mermaid diagram svg visualize visualise draw chart",
    "report": "html pdf pr pull-request export-report write-report changelog",
    "notify": "notifications notification webhook alert alerts bell slack",
    "rehearsal": "rehearse simulate simulation sandbox dry-run practice trial",
    "mcp": "mcp-server server tool-server tools",
    "completion": "completions autocomplete bash-completion shell-completion complete-shell",
    "merge-driver": "merge mergetool merge-tool mergedriver git-merge",
    "statusline": "status-line prompt line statusbar status-bar",
}

# Our groups: what other tools call the things in them.
NOUNS = {
    "phase": "task subtask epic story spec feature change issue ticket step work",
    "job": "run workflow agent session process call container",
    "milestone": "release version sprint cycle tag",
    "planning": "module requirement criterion goal constraint",
    "config": "setting option profile preference",
    "roadmap": "timeline board",
    "rehearsal": "simulation sandbox trial",
}

# Verbs that mean the same within one group, the ones people type most often first.
KINDRED_VERBS = (
    "add create new start insert begin init make open register propose",
    "remove delete rm del drop unset erase clear reset destroy",
    "list ls all index",
    "show view get status info cat inspect describe display print details open read list",
    "complete finish done close end ship archive mark",
    "cancel stop kill abort terminate halt end quit",
    "execute run implement do work build apply start go launch perform",
    "verify test validate check review audit uat confirm",
    "discuss clarify talk ask questions",
    "plan design prepare breakdown spec research",
    "set change edit update modify put assign write",
    "retry resume continue restart rerun redo again",
    "watch follow tail log logs monitor attach",
    "answer reply respond tell say",
    "approve accept agree ok yes sign",
    "veto reject refuse deny no decline",
    "export dump save print",
    "rule decide settle override judge",
    "release unlock free unblock let",
    "reassign move transfer handover",
    "sync refresh update reconcile",
    "update-progress update refresh sync",
    "prune compact shrink trim archive cleanup",
)
