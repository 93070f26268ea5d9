/** Validates names given by people: to organizations, locations, machines, parts, keys, fragments. */
import { invalidArgument, invisibleCharacter, isVisible, visibleText } from '@platform/base';

const maxNameLength = 200;

/** Returns the name, trimmed. Markup is stored unchanged and never interpreted. @throws invalid_argument naming the found value */
export function checkedName(name: string, what = 'name'): string {
  const trimmed = name.trim();
  const unseen = invisibleCharacter(trimmed.slice(0, maxNameLength));
  if (unseen === undefined && trimmed.length <= maxNameLength && isVisible(trimmed)) return trimmed;
  throw invalidArgument(
    `${what}: expected 1 to ${maxNameLength} characters without control characters and other invisible characters, found ${unseen === undefined ? '' : `${unseen} in `}${visibleText(trimmed)} (${trimmed.length} characters)`,
  );
}
