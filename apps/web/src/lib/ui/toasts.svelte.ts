/** Short messages at the edge of the page. */
export interface ToastAction {
  /** Label of the button. */
  readonly name: string;
  /** Called once; the message then closes. */
  readonly act?: () => unknown;
  /** A page of this site, instead of `act`. */
  readonly href?: string;
}

export interface Toast {
  readonly id: number;
  readonly text: string;
  readonly kind: 'done' | 'problem';
  readonly action: ToastAction | undefined;
}

const shownMs = 6_000;
/** Longer, so that there is time to undo a change. */
const shownWithActionMs = 20_000;
export const toasts = $state<Toast[]>([]);
let nextId = 1;

export function toast(text: string, kind: Toast['kind'] = 'done', action?: ToastAction): void {
  const id = nextId++;
  toasts.push({ id, text, kind, action });
  // Problems stay until they are closed.
  if (kind === 'done') setTimeout(() => closeToast(id), action ? shownWithActionMs : shownMs);
}

export function closeToast(id: number): void {
  const index = toasts.findIndex((one) => one.id === id);
  if (index >= 0) toasts.splice(index, 1);
}
