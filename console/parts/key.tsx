/** Which colour is what; the words say it too. */
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
