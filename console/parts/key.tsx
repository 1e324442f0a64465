/** Colour key; the words name the colours' meaning as well. */
export const Key = ({ items }: { readonly items: readonly { readonly words: string; readonly colour: string }[] }) => (
  <ul class="key">
    {items.map(({ words, colour }) => (
      <li key={words}>
        <i style={{ background: colour }} />
        {words}
      </li>
    ))}
  </ul>
);
