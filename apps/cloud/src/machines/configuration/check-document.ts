/** Refuses a configuration that has errors, naming all of them with their JSON paths; warnings pass. */
import { PlatformError, type Problem } from '@platform/base';
import type { Effective } from './effective-configuration.ts';

const shownProblems = 20;

/** What is wrong with the triggers of an effective document: they belong to another feature. */
export type TriggerProblems = (document: unknown) => readonly Problem[];

/**
 * Every finding about a document that is to be saved, once. Own entries stand before those of fragments, at their own
 * positions, so that paths of the effective document are paths of the saved one.
 */
export function problemsOf(
  document: unknown,
  effective: Effective,
  triggerProblems: TriggerProblems,
  packageProblems: readonly Problem[],
): readonly Problem[] {
  const imported = (problem: Problem): boolean => {
    const [, list, position] = /^(\w+)\[(\d+)\]/.exec(problem.path) ?? [];
    if (list === undefined || effective.fragments.length === 0) return false;
    const own = (document as Readonly<Record<string, unknown>> | null)?.[list];
    return Number(position) >= (Array.isArray(own) ? own.length : 0);
  };
  const found: readonly Problem[] = [
    ...effective.problems,
    ...effective.parseProblems,
    ...triggerProblems(effective.document),
    ...packageProblems,
  ].map((problem) => {
    if (!imported(problem)) return problem;
    // Whoever saves cannot mend a fragment's entry, but can give it what it depends on.
    const level = /\.depends_on\[\d+\]$/.test(problem.path) ? problem.level : 'warning';
    return { ...problem, level, message: `${problem.message} (this entry comes from a fragment)` };
  });
  return [...new Map(found.map((problem) => [`${problem.path} ${problem.message}`, problem])).values()];
}

/** Answers the warnings of a document that may be saved. @throws invalid_argument naming all errors of one that may not */
export function checkDocument(
  document: unknown,
  effective: Effective,
  triggerProblems: TriggerProblems,
  packageProblems: readonly Problem[],
): readonly string[] {
  const problems = problemsOf(document, effective, triggerProblems, packageProblems);
  const textsOf = (level: string): string[] =>
    problems.filter((problem) => problem.level === level).map(({ path, message }) => `${path}: ${message}`);
  const errors = textsOf('error');
  if (errors.length === 0) return textsOf('warning');
  const more = errors.length > shownProblems ? `\n… and ${errors.length - shownProblems} more` : '';
  throw new PlatformError(
    'invalid_argument',
    `configuration: ${errors.length} ${errors.length === 1 ? 'error' : 'errors'}, nothing was saved\n${errors.slice(0, shownProblems).join('\n')}${more}`,
  );
}
