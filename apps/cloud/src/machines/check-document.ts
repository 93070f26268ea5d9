/** Refuses a configuration that has errors, naming all of them with their JSON paths; warnings pass. */
import { PlatformError } from '@platform/base';
import { parse } from '@platform/machine-config/parse';

const shownProblems = 20;

/** @throws invalid_argument */
export function checkDocument(document: unknown): void {
  const errors = parse(document).problems.filter((problem) => problem.level === 'error');
  if (errors.length === 0) return;
  const lines = errors.slice(0, shownProblems).map((problem) => `${problem.path}: ${problem.message}`);
  const more = errors.length > shownProblems ? `\n… and ${errors.length - shownProblems} more` : '';
  throw new PlatformError(
    'invalid_argument',
    `configuration: ${errors.length} ${errors.length === 1 ? 'error' : 'errors'}, nothing was saved\n${lines.join('\n')}${more}`,
  );
}
