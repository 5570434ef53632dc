// Loads the reference tool's modules once and answers one JSON line for each project folder:
// what its read-only commands say, as they would print it. It writes nothing into the folder
// that the commands themselves do not write, so every folder is a scratch copy.
'use strict';

const fs = require('fs');
const path = require('path');
const readline = require('readline');

const library = path.join(process.argv[2], 'lib');
const state = require(path.join(library, 'state.cjs'));
const commands = require(path.join(library, 'commands.cjs'));
const roadmap = require(path.join(library, 'roadmap.cjs'));
const phase = require(path.join(library, 'phase.cjs'));
const plans = require(path.join(library, 'plan-scan.cjs'));
const pairing = require(path.join(library, 'core-utils.cjs'));
const blocked = require(path.join(library, 'plan-dependency-graph.cjs'));
const locator = require(path.join(library, 'phase-locator.cjs'));
const ids = require(path.join(library, 'phase-id.cjs'));
const verification = require(path.join(library, 'verification.cjs'));
const parser = require(path.join(library, 'roadmap-parser.cjs'));
const lifecycle = require(path.join(library, 'phase-lifecycle.cjs'));
const hook = require(path.join(process.argv[2], '..', '..', 'hooks', 'gsd-statusline.js'));

const realWrite = fs.writeSync;

function answerOf(command) {
  let text = '';
  // The commands print to the descriptors themselves; here they print into a variable.
  fs.writeSync = (descriptor, data, offset, length) => {
    const whole = Buffer.isBuffer(data) ? data : Buffer.from(String(data));
    const part = whole.subarray(offset || 0, length === undefined ? undefined : (offset || 0) + length);
    if (descriptor === 1) text += part.toString();
    return part.length;
  };
  try {
    command();
  } catch (error) {
    return { error: String(error && error.message) };
  } finally {
    fs.writeSync = realWrite;
    process.exitCode = 0;
  }
  if (text.startsWith('@file:')) text = fs.readFileSync(text.slice(6), 'utf8');
  try {
    return JSON.parse(text);
  } catch {
    return { error: 'not JSON', text };
  }
}

// What it reads in one phase folder: its plans, each with whether it finds a summary for it.
function contents(folder, name) {
  const home = path.join(folder, name);
  const found = plans.scanPhasePlans(home);
  const proofs = found.summaryFiles.filter((file) => !blocked.isSummaryFileBlocked(path.join(home, file)));
  const pairs = found.planFiles.map((file) => [file, pairing.countMatchedSummaries([file], proofs) > 0]);
  return {
    key: ids.normalizePhaseName(ids.extractPhaseToken(name) || name),
    plans: Object.fromEntries(pairs),
    has_all_summaries: found.completed,
    is_complete: verification.isPhaseComplete(home).value.complete,
  };
}

function folders(folder) {
  const home = path.join(folder, '.planning', 'phases');
  if (!fs.existsSync(home)) return {};
  const names = fs.readdirSync(home, { withFileTypes: true }).filter((each) => each.isDirectory());
  return Object.fromEntries(names.map(({ name }) => [name, contents(home, name)]));
}

// The part of the roadmap that it takes for the current milestone, and the folders its state counts.
function windowed(folder, storedMilestone) {
  const roadmapFile = path.join(folder, '.planning', 'ROADMAP.md');
  const options = { cwd: folder, versionOverride: storedMilestone || null, phaseIdConvention: null };
  const counted = locator.listMilestonePhaseDirs(path.join(folder, '.planning', 'phases'), options);
  const found = { folders: counted.value, scope: counted.scope, text: '', is_bounded: true, complete_rows: 0 };
  if (!fs.existsSync(roadmapFile)) return { ...found, is_withheld: Boolean(storedMilestone) };
  const roadmapText = fs.readFileSync(roadmapFile, 'utf8');
  found.text = parser.extractCurrentMilestone(roadmapText, folder);
  const named = parser.getMilestoneInfo(folder).value;
  if (named && named.version) found.is_bounded = parser.isMilestoneBoundedInRoadmap(roadmapText, String(named.version).trim());
  const isGrouped = parser.hasAnyMilestoneSection(roadmapText);
  found.is_withheld = !found.is_bounded && isGrouped;
  found.counts_headings = found.is_bounded || !isGrouped;
  if (found.counts_headings) found.complete_rows = lifecycle.deriveProgressFromRoadmap(found.text).completedPhases || 0;
  return found;
}

function lineOf(folder) {
  return hook.renderStatusline({ model: { display_name: 'Model' }, workspace: { current_dir: folder } });
}

function guarded(question) {
  try { return question(); } catch (error) { return { error: String(error && error.message) }; }
}

// The folder that it finds for each phase of the roadmap.
function matched(folder, phases) {
  const home = path.join(folder, '.planning', 'phases');
  const names = locator.listAllPhaseDirs(home, { includeSentinels: true }).value;
  const found = phases.map(({ number }) => [number, ids.matchPhaseDirs(names, ids.normalizePhaseName(number)).matches[0] || '']);
  return Object.fromEntries(found);
}

function answers(folder, milestone) {
  const analysis = answerOf(() => roadmap.cmdRoadmapAnalyze(folder, false));
  return {
    state: answerOf(() => state.cmdStateJson(folder, false)),
    progress: answerOf(() => commands.cmdProgressRender(folder, 'json', false)),
    stats: answerOf(() => commands.cmdStats(folder, 'json', false)),
    roadmap: analysis,
    matched: guarded(() => matched(folder, analysis.phases || [])),
    phases: answerOf(() => phase.cmdPhasesList(folder, {}, false)),
    folders: guarded(() => folders(folder)),
    window: guarded(() => windowed(folder, milestone)),
    line: guarded(() => lineOf(folder)),
  };
}

process.stderr.write = () => true;
readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const { folder, milestone, only } = JSON.parse(line);
  const found = only ? { line: guarded(() => lineOf(folder)) } : answers(folder, milestone);
  process.stdout.write(JSON.stringify({ folder, ...found }) + '\n');
});
