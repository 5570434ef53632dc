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

function answers(folder) {
  return {
    state: answerOf(() => state.cmdStateJson(folder, false)),
    progress: answerOf(() => commands.cmdProgressRender(folder, 'json', false)),
    stats: answerOf(() => commands.cmdStats(folder, 'json', false)),
    roadmap: answerOf(() => roadmap.cmdRoadmapAnalyze(folder, false)),
    phases: answerOf(() => phase.cmdPhasesList(folder, {}, false)),
  };
}

process.stderr.write = () => true;
readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const { folder } = JSON.parse(line);
  process.stdout.write(JSON.stringify({ folder, ...answers(folder) }) + '\n');
});
