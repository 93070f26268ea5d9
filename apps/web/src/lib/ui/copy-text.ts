/** Copies text for pasting elsewhere, also on pages over plain HTTP, where browsers do not offer the clipboard to scripts. @returns whether it worked */
export async function copyText(text: string): Promise<boolean> {
  const offered: Clipboard | undefined = navigator.clipboard;
  if (offered !== undefined) {
    try {
      await offered.writeText(text);
      return true;
    } catch {
      // The person may have forbidden it; the older way needs no permission.
    }
  }
  const box = document.createElement('textarea');
  box.value = text;
  // In a modal dialog, only its own elements can have the focus.
  const place = document.activeElement?.closest('dialog') ?? document.body;
  const before = document.activeElement;
  place.append(box);
  box.select();
  const copied = document.execCommand('copy');
  box.remove();
  if (before instanceof HTMLElement) before.focus();
  return copied;
}
