/** Runs `act` after `ms` without another request for it. */
export function debounce(ms: number, act: () => unknown): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(act, ms);
  };
}
