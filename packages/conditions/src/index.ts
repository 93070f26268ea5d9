/** Conditions of triggers: compiled once when the configuration changes, evaluated for each reading. Pure. */

export { type AlarmState, alarmStep } from './alarm-state.ts';
export { type CaptureMethod, type CaptureSource, isCapturedBy, parseCaptureMethod } from './capture-method.ts';
export type { Alarm } from './compile-alarm.ts';
export { type Condition, compileCondition } from './compile-condition.ts';
export type { Json, JsonObject } from './json.ts';
export type { KeyTree } from './key-tree.ts';
export { evalsOf, type MetEval } from './met-evals.ts';
export { compilePattern } from './pattern.ts';
export type { Prefilter } from './prefilter.ts';
