/**
 * Drafts survive a reload, and signing in again in the same tab: they stand in the storage of the tab, which ends with it. They may hold
 * what configurations hold, so they are not kept any longer.
 */
export interface KeptDraft {
  /** The version that it began with. */
  readonly version: number;
  readonly text: string;
}

const keyOf = (partId: string): string => `draft of ${partId}`;

export function readDraft(partId: string): KeptDraft | undefined {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(keyOf(partId)) ?? 'null');
    const { version, text } = (kept ?? {}) as Partial<KeptDraft>;
    return typeof version === 'number' && typeof text === 'string' ? { version, text } : undefined;
  } catch {
    return undefined;
  }
}

/** Undefined forgets it. A storage that is full or forbidden keeps nothing. */
export function keepDraft(partId: string, draft: KeptDraft | undefined): void {
  try {
    if (draft === undefined) sessionStorage.removeItem(keyOf(partId));
    else sessionStorage.setItem(keyOf(partId), JSON.stringify(draft));
  } catch {
    // The page itself still has it.
  }
}
