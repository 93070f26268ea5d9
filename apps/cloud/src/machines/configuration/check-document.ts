/** Refuses a configuration with errors, naming all of them with their JSON paths; warnings are allowed. */
import { invalidArgument, type Problem } from '@platform/base';
import type { Effective } from './effective-configuration.ts';

const shownProblems = 20;

/** Finds problems in the triggers of an effective document; implemented by the triggers feature. */
export type TriggerProblems = (document: unknown) => readonly Problem[];

/**
 * Every problem of a document that is to be saved, without duplicates. The document's own entries precede those of fragments and keep their
 * positions, so paths in the effective document are also valid in the saved one.
 *
 * @param installationProblems what this installation cannot run, see `InstallationProblems`
 */
export function problemsOf(
  document: unknown,
  effective: Effective,
  triggerProblems: TriggerProblems,
  installationProblems: readonly Problem[],
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
    ...installationProblems,
  ].map((problem) => {
    if (!imported(problem)) return problem;
    // The user cannot fix a fragment's entry, except by adding what it depends on.
    const level = /\.depends_on\[\d+\]$/.test(problem.path) ? problem.level : 'warning';
    return { ...problem, level, message: `${problem.message} (this entry comes from a fragment)` };
  });
  return [...new Map(found.map((problem) => [`${problem.path} ${problem.message}`, problem])).values()];
}

/** Returns the warnings of a valid document. @throws invalid_argument naming all errors of an invalid one */
export function checkDocument(
  document: unknown,
  effective: Effective,
  triggerProblems: TriggerProblems,
  installationProblems: readonly Problem[],
): readonly string[] {
  const problems = problemsOf(document, effective, triggerProblems, installationProblems);
  const textsOf = (level: string): string[] =>
    problems.filter((problem) => problem.level === level).map(({ path, message }) => `${path}: ${message}`);
  const errors = textsOf('error');
  if (errors.length === 0) return textsOf('warning');
  const more = errors.length > shownProblems ? `\n… and ${errors.length - shownProblems} more` : '';
  throw invalidArgument(
    `configuration: ${errors.length} ${errors.length === 1 ? 'error' : 'errors'}, nothing was saved\n${errors.slice(0, shownProblems).join('\n')}${more}`,
  );
}
