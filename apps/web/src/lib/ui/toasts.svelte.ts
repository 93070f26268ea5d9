/** Short messages at the edge of the page. */
export interface Toast {
  readonly id: number;
  readonly text: string;
  readonly kind: 'done' | 'problem';
}

const shownMs = 6_000;
export const toasts = $state<Toast[]>([]);
let nextId = 1;

export function toast(text: string, kind: Toast['kind'] = 'done'): void {
  const id = nextId++;
  toasts.push({ id, text, kind });
  // Problems stay until they are closed.
  if (kind === 'done') setTimeout(() => closeToast(id), shownMs);
}

export function closeToast(id: number): void {
  const index = toasts.findIndex((one) => one.id === id);
  if (index >= 0) toasts.splice(index, 1);
}
