import { formatValue } from '../format-value.ts';
import { isSecretPath, maskSecrets } from '../mask-secrets.ts';
import type { Json } from '../schema.ts';
import type { Change, Step } from './change.ts';

/**
 * A line for each change: JSON path, the named entry that contains it, before and after in at most 80 characters each. Secrets are masked
 * unless `reveal` is set.
 */
export function diffLines(
  changes: readonly Change[],
  { reveal = false }: { readonly reveal?: boolean } = {},
): string[] {
  return changes.map((change) => {
    const name = change.of.length === 0 ? '' : ` (${change.of.map((each) => each.slice(0, 80)).join(', ')})`;
    const at = `${pathText(change.path)}${name}`;
    const text = (value: Json): string => formatValue(reveal ? value : masked(value, change.path));
    switch (change.kind) {
      case 'added':
        return `+ ${at}: ${text(change.after)}`;
      case 'removed':
        return `- ${at}: ${text(change.before)}`;
      case 'renamed':
        return `~ ${at}: renamed, ${text(change.before)} → ${text(change.after)}`;
      case 'moved':
        return `~ ${at}: moved to position ${change.to}`;
      default:
        return !reveal && isSecretPath(change.path.filter((step) => typeof step === 'string'))
          ? `~ ${at}: changed (a secret)`
          : `~ ${at}: ${text(change.before)} → ${text(change.after)}`;
    }
  });
}

function masked(value: Json, path: readonly Step[]): Json {
  return maskSecrets(
    value,
    path.filter((step) => typeof step === 'string'),
  );
}

function pathText(path: readonly Step[]): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (!/^[\w$-]{1,80}$/.test(step)) text += `[${formatValue(step)}]`;
    else text += text === '' ? step : `.${step}`;
  }
  return text === '' ? '$' : text;
}
