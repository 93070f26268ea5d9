import type { Log, Problem } from '@platform/base';

/** Logs one line per problem, beginning with its path. */
export function logProblems(log: Log, problems: readonly Problem[]): void {
  for (const { level, path, message } of problems) log[level === 'error' ? 'error' : 'warn'](`${path}: ${message}`);
}
