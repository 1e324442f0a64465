import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** Dialog before an irreversible action. Escape means no. */
export function Confirm({
  open,
  title,
  yes,
  children,
  onYes,
  onNo,
}: {
  readonly open: boolean;
  readonly title: string;
  readonly yes: string;
  readonly children: ComponentChildren;
  readonly onYes: () => void;
  readonly onNo: () => void;
}) {
  const box = useRef<HTMLDialogElement>(null);
  const head = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    const dialog = box.current;
    if (open && !dialog?.open) {
      dialog?.showModal();
      head.current?.focus();
    }
    if (!open && dialog?.open) dialog.close();
  }, [open]);
  return (
    <dialog
      ref={box}
      aria-labelledby="confirm-title"
      onCancel={(e) => {
        // Only the `open` property decides if it is open.
        e.preventDefault();
        onNo();
      }}
    >
      <div class="stack">
        {/* Focus is here, not on the button: a key that is held down must not confirm. */}
        <h2 id="confirm-title" ref={head} tabIndex={-1}>
          {title}
        </h2>
        {children}
        <div class="row">
          <button type="button" class="button main-action" onClick={onYes}>
            {yes}
          </button>
          <button type="button" class="button" onClick={onNo}>
            Not yet
          </button>
        </div>
      </div>
    </dialog>
  );
}
