import { type Log, type Problem, runInTurns, type Steps } from '@platform/base';

/** Logs one line per problem, beginning with its path; thousands of them in turns. */
export function logProblems(log: Log, problems: readonly Problem[]): Promise<void> {
  return runInTurns(logged(log, problems));
}

function* logged(log: Log, problems: readonly Problem[]): Steps<void> {
  for (const { level, path, message } of problems) {
    log[level === 'error' ? 'error' : 'warn'](`${path}: ${message}`);
    yield;
  }
}
