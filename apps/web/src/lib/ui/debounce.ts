/** Runs `act` once nothing has asked for it for `ms`. */
export function debounce(ms: number, act: () => unknown): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(act, ms);
  };
}
