/** Refuses a configuration that has errors, naming all of them with their JSON paths; warnings pass. */
import { PlatformError } from '@platform/base';
import { parse } from '@platform/machine-config/parse';
import { resourceNames, triggersIn } from './triggers-of.ts';

const shownProblems = 20;

export type TriggerProblems = (
  triggers: readonly unknown[],
  components: readonly string[],
) => readonly { readonly path: string; readonly severity: 'error' | 'warning'; readonly message: string }[];

/** Answers the warnings of a document that may be saved. @throws invalid_argument naming all errors of one that may not */
export function checkDocument(document: unknown, triggerProblems: TriggerProblems): readonly string[] {
  const problems = [
    ...parse(document).problems.map(({ level, path, message }) => ({ severity: level, text: `${path}: ${message}` })),
    ...triggerProblems(triggersIn(document), resourceNames(document)).map(({ severity, path, message }) => ({
      severity,
      text: `${path}: ${message}`,
    })),
  ];
  const textsOf = (severity: string): string[] => [
    ...new Set(problems.filter((problem) => problem.severity === severity).map((problem) => problem.text)),
  ];
  const errors = textsOf('error');
  if (errors.length === 0) return textsOf('warning');
  const more = errors.length > shownProblems ? `\n… and ${errors.length - shownProblems} more` : '';
  throw new PlatformError(
    'invalid_argument',
    `configuration: ${errors.length} ${errors.length === 1 ? 'error' : 'errors'}, nothing was saved\n${errors.slice(0, shownProblems).join('\n')}${more}`,
  );
}
