"""Pictures as inline SVG, made of plain numbers.

Each carries a title and a description, and stands beside a table with the same numbers. Colour
is never the only carrier of anything. Styles are classes of the style sheet: a strict content
policy allows no others, and light and dark come for free.
"""
