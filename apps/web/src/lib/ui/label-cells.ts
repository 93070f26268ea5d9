/** On a phone, rows of tables are cards (`app.css`), in which each cell is named by the head of its column. */
const phone = '(width < 40rem)';

/** An attachment for the element with the tables. */
export function labelCells(root: HTMLElement): () => void {
  const query = matchMedia(phone);
  const observer = new MutationObserver(() => label(root));
  const follow = (): void => {
    observer.disconnect();
    if (!query.matches) return;
    label(root);
    observer.observe(root, { childList: true, subtree: true });
  };
  query.addEventListener('change', follow);
  follow();
  return () => {
    query.removeEventListener('change', follow);
    observer.disconnect();
  };
}

function label(root: HTMLElement): void {
  for (const cell of root.querySelectorAll<HTMLTableCellElement>('.table-panel td:not([data-label])')) {
    const head = cell.closest('table')?.tHead?.rows[0]?.cells[cell.cellIndex];
    cell.dataset['label'] = cell.colSpan > 1 ? '' : (head?.textContent.trim() ?? '');
  }
}
