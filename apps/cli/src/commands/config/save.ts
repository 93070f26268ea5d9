/**
 * Saves a text as the configuration of a part: validates it, shows the changes, asks for confirmation, and never overwrites another save.
 */
import { invalidArgument } from '@platform/base/refusals';
import { diff, diffLines } from '@platform/machine-config/diff';
import type { ConfigurationProblem } from '@platform/sdk/cloud';
import type { Context } from '../../invocation/context.ts';
import { type Configuration, parsed, requireDocumentSize, versionResult } from './configuration.ts';

/** The problems that the cloud finds in a text before it is saved. @throws invalid_argument unless it is JSON of at most 4 MiB */
export async function problemsOf(
  { cloud }: Context,
  partId: string,
  text: string,
): Promise<readonly ConfigurationProblem[]> {
  requireDocumentSize(text);
  parsed(text);
  return (await (await cloud()).fleet.validateConfiguration({ partId, document: text })).problems;
}

/**
 * @param problems of the text, see `problemsOf`
 * @throws aborted if someone saved since `before` was read, invalid_argument if the text has errors, canceled if it is not confirmed
 */
export async function save(
  context: Context,
  before: Configuration,
  text: string,
  problems: readonly ConfigurationProblem[],
): Promise<void> {
  const document = parsed(text);
  const { app, fleet } = await context.cloud();
  const hasErrors = problems.some((problem) => problem.severity === 'error');
  // Before the comparison: the depth of the document is limited only if it has no errors.
  const changes = hasErrors ? [] : diff(parsed(before.text), document);
  if (!hasErrors && changes.length === 0) return context.out.note('nothing has changed; nothing was saved');
  for (const problem of problems) context.out.warn(`${problem.severity}: ${problem.path}: ${problem.message}`);
  if (hasErrors) throw invalidArgument('the configuration has errors; nothing was saved');
  for (const line of diffLines(changes)) context.out.note(line);
  await context.confirm(
    `Save ${changes.length} ${changes.length === 1 ? 'change' : 'changes'} to the part "${before.partName}"?`,
  );
  const savedAt = before.version?.savedAt;
  await app.updateRobotPart({
    id: before.partId,
    robotConfigJson: text,
    // A save by someone else in between is a conflict: no edit is overwritten.
    ...(savedAt === undefined || before.version?.version === 0n ? {} : { lastKnownUpdate: savedAt }),
  });
  const { version } = await fleet.getConfigurationVersion({ partId: before.partId });
  if (version !== undefined && context.out.style.json !== false) context.out.object(versionResult.shape(version));
  context.out.note(`saved as version ${version?.version}; an online part fetches it within 15 s`);
}
